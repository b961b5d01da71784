/** Buttons: one that asks a command, and one that asks twice before something is lost. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface ButtonProps {
  readonly children: ComponentChildren
  readonly onPress: () => unknown
  readonly kind?: 'primary' | 'plain' | 'danger'
  readonly disabled?: boolean
  readonly busy?: boolean
  /** Where the words alone do not name the object. */
  readonly label?: string
}

export function Button({ children, onPress, kind, disabled, busy, label }: ButtonProps): JSX.Element {
  return (
    <button
      type="button"
      class={kind === undefined ? 'btn' : `btn ${kind}`}
      disabled={disabled === true}
      aria-busy={busy === true ? 'true' : undefined}
      aria-label={label}
      onClick={() => {
        if (busy !== true) onPress()
      }}
    >
      {children}
    </button>
  )
}

interface ConfirmProps {
  /** "Reset…": opens the question. */
  readonly ask: string
  /** What will be lost, in one sentence. */
  readonly question: string
  /** "Reset Rookery": does it. */
  readonly deed: string
  readonly onConfirm: () => unknown
  readonly busy?: boolean
  readonly label?: string
}

/** Asks in place. The focus goes to the way back, so that a second Enter loses nothing. */
export function ConfirmButton({ ask, question, deed, onConfirm, busy, label }: ConfirmProps): JSX.Element {
  const open = useSignal(false)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (open.value) box.current?.querySelector('button')?.focus()
  }, [open.value])
  if (!open.value)
    return (
      <Button
        kind="danger"
        busy={busy === true}
        {...(label === undefined ? {} : { label })}
        onPress={() => {
          open.value = true
        }}
      >
        {ask}
      </Button>
    )
  return (
    <div class="confirm" role="group" aria-label={ask} ref={box}>
      <p>{question}</p>
      <div class="actions">
        <Button
          onPress={() => {
            open.value = false
          }}
        >
          Keep as it is
        </Button>
        <Button
          kind="danger"
          onPress={() => {
            open.value = false
            onConfirm()
          }}
        >
          {deed}
        </Button>
      </div>
    </div>
  )
}
