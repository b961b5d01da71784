/** Where an invite link is typed or pasted; Enter looks at it. */
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { invite, lookAt, looking } from '../pages/join-state.ts'
import { Fault } from './blocks.tsx'

interface InviteFieldProps {
  readonly onLook?: () => void
  readonly focus?: boolean
}

export function InviteField({ onLook, focus }: InviteFieldProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (focus === true) field.current?.focus()
  }, [])
  return (
    <form
      class="field"
      onSubmit={(event) => {
        event.preventDefault()
        void lookAt(field.current?.value ?? '').then(onLook)
      }}
    >
      <label for="invite">Invite link</label>
      <div class="row">
        <input
          ref={field}
          class={looking.fault.value === '' ? 'input mono' : 'input mono bad'}
          id="invite"
          placeholder="rookery://join/…"
          spellcheck={false}
          autocomplete="off"
          value={invite.value}
          aria-invalid={looking.fault.value === '' ? undefined : true}
        />
        <button type="submit" class="btn primary" aria-busy={looking.busy.value ? 'true' : undefined}>
          {looking.busy.value ? 'Looking…' : 'Look at it'}
        </button>
      </div>
      <Fault of={looking} />
    </form>
  )
}
