/** Programs that pause training while they run: names as chips, one field to add another. */
import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { FaultText } from './blocks.tsx'
import { Icon } from './icon.tsx'
import type { EditorProps } from './limit-editor.ts'

const most = 50

function faultOf(name: string, there: readonly string[]): string | undefined {
  if (name === '') return 'Type the name of a program, as the task manager shows it.'
  if (name.length > 100) return 'A program’s name has at most 100 characters.'
  if (there.length >= most) return `At most ${most} programs; remove one first.`
  return there.includes(name) ? `${name} is in the list already.` : undefined
}

export function Programs({ set, change }: EditorProps): JSX.Element {
  const typed = useSignal('')
  const fault = useSignal<string | undefined>(undefined)
  const names = set.pausePrograms
  const add = () => {
    const name = typed.value.trim()
    fault.value = faultOf(name, names)
    if (fault.value !== undefined) return
    typed.value = ''
    change({ pausePrograms: [...names, name] })
  }
  return (
    <>
      {names.map((name) => (
        <span key={name} class="chip">
          {name}
          <button
            type="button"
            aria-label={`Remove ${name}`}
            onClick={() => {
              change({ pausePrograms: names.filter((other) => other !== name) })
            }}
          >
            <Icon name="no" />
          </button>
        </span>
      ))}
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          add()
        }}
      >
        <input
          class="input program"
          aria-label="Name of a program that pauses training"
          placeholder="program name"
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value
          }}
        />
        <button type="submit" class="btn plain flush">
          Add
        </button>
      </form>
      {fault.value === undefined ? null : <FaultText text={fault.value} />}
    </>
  )
}
