import { playWeeks } from './campaign.ts'

playWeeks('hub', 1)
