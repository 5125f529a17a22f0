import { playWeeks } from './campaign.ts'

playWeeks('alone', 2)
