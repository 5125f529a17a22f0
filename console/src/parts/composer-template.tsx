import { useId } from 'preact/hooks'
import type { Draft } from '../lib/drafts.ts'
import { asTyped, isList, type Template, templates } from '../lib/templates.ts'
import { sentence } from '../lib/text.ts'

export interface TemplateProps {
  draft: Draft
  change: (part: Partial<Draft>) => void
}

/** What a new message is written from. */
export const TemplateChoice = ({ draft, change }: TemplateProps) => (
  <div class="choice composer-templates" role="group" aria-label="Template">
    {[{ name: '', label: 'Message' }, ...templates].map(({ name, label }) => (
      <button
        key={name}
        type="button"
        aria-pressed={draft.template === name}
        onClick={() => change({ template: name })}
      >
        {label}
      </button>
    ))}
  </div>
)

/** The fields of a template: a line for each value where there can be several. */
export function TemplateFields({ template, draft, change }: TemplateProps & { template: Template }) {
  const id = useId()
  const set = (values: Record<string, string>) => change({ values: { ...draft.values, ...values } })
  const starts = Object.keys(template.starts)
  return (
    <>
      {starts.length > 0 && (
        <div class="composer-line">
          <label for={`${id}start`}>Start from</label>
          <select
            id={`${id}start`}
            class="field"
            value=""
            onChange={(event) => {
              const start = template.starts[event.currentTarget.value] ?? {}
              set(Object.fromEntries(Object.entries(start).map(([name, value]) => [name, asTyped(value)])))
            }}
          >
            <option value="">Nothing</option>
            {starts.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
      )}
      {template.fields.map(({ name, label, field }) => {
        const about = sentence(field.about ?? '')
          .replace('; repeatable', '; one per line')
          .replace(/\.$/, '')
        const shared = {
          ...{ id: `${id}${name}`, class: 'field', placeholder: about, value: draft.values[name] ?? '' },
          ...{ required: field.required ?? false, autoComplete: 'off' },
          onInput: (event: { currentTarget: { value: string } }) =>
            set({ [name]: event.currentTarget.value }),
        }
        return (
          <div class="composer-line" key={name}>
            <label for={`${id}${name}`}>{label}</label>
            {isList(field) || name === 'workCompleted' ? (
              <textarea {...shared} rows={1} />
            ) : (
              <input {...shared} />
            )}
          </div>
        )
      })}
    </>
  )
}
