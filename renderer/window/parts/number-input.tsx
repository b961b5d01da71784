/** A number with its unit; a value that cannot be used is said beside it and not sent. */
import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { numberFault } from '../words/host-draft.ts'
import type { Bounds } from '../words/host-draft.ts'
import { FaultText } from './blocks.tsx'

interface NumberInputProps {
  /** For screen readers; absent when a label element names `id`. */
  readonly label?: string
  readonly id?: string
  readonly value: number
  readonly unit: string
  readonly bounds: Bounds
  readonly onValue: (value: number) => void
}

export function NumberInput({ label, id, value, unit, bounds, onValue }: NumberInputProps): JSX.Element {
  const fault = useSignal<string | undefined>(undefined)
  const refused = useSignal('')
  return (
    <span class="with-unit wrap">
      <input
        class={fault.value === undefined ? 'input num' : 'input num bad'}
        id={id}
        inputMode={bounds.whole ? 'numeric' : 'decimal'}
        aria-label={label}
        aria-invalid={fault.value === undefined ? undefined : true}
        value={fault.value === undefined ? String(value) : refused.value}
        onChange={(event) => {
          const text = event.currentTarget.value.trim()
          const typed = text === '' ? Number.NaN : Number(text.replace(',', '.'))
          refused.value = text
          fault.value = numberFault(typed, bounds)
          if (fault.value === undefined) onValue(typed)
        }}
      />
      {unit === '' ? null : <span>{unit}</span>}
      {fault.value === undefined ? null : <FaultText text={fault.value} />}
    </span>
  )
}
