import { computed } from '@preact/signals'
import { decided } from './deferred.ts'
import { needsYou } from './matters.ts'

/** What waits for the person, without what they have just decided. */
export const openNeeds = computed(() =>
  needsYou.data.value?.filter(({ message }) => !decided.value.has(message.id)),
)
