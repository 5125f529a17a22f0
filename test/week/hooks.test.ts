import { playWeeks } from './campaign.ts'

playWeeks('hooks', 3)
