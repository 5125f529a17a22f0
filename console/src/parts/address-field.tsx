import { completeLast } from '../lib/completion.ts'
import { withAbout } from '../lib/reach.ts'
import { addresses, overview } from '../state/overview.ts'
import { CompletedField, type CompletedFieldProps } from './completed-field.tsx'

/** A field for one or more recipients, with commas between them. */
export const AddressField = (props: Omit<CompletedFieldProps, 'complete'>) => (
  <CompletedField
    placeholder="ada, role:architect, #inscription, all"
    {...props}
    complete={(typed) => completeLast(typed, withAbout(addresses.value, overview.data.value?.agents ?? []))}
  />
)
