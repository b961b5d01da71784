/** Buttons: one that asks a command, and one that asks twice before something is lost. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

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

interface QuestionProps {
  /** What it asks about, for screen readers. */
  readonly title: string
  readonly question: string
  readonly deed: string
  readonly onKeep: () => void
  readonly onDeed: () => void
}

/** The focus goes to the way back, so that a second Enter loses nothing. */
export function Question({ title, question, deed, onKeep, onDeed }: QuestionProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    box.current?.querySelector('button')?.focus()
  }, [])
  return (
    <div class="confirm" role="group" aria-label={title} ref={box}>
      <p>{question}</p>
      <div class="actions">
        <Button onPress={onKeep}>Keep as it is</Button>
        <Button kind="danger" onPress={onDeed}>
          {deed}
        </Button>
      </div>
    </div>
  )
}

/** Asks in place, and gives the focus back when nothing was done. */
export function ConfirmButton({ ask, question, deed, onConfirm, busy, label }: ConfirmProps): JSX.Element {
  const open = useSignal(false)
  const place = useRef<HTMLSpanElement>(null)
  const opened = useRef(false)
  useLayoutEffect(() => {
    if (opened.current && !open.value) place.current?.querySelector('button')?.focus()
    opened.current = open.value
  }, [open.value])
  const close = () => {
    open.value = false
  }
  return (
    <span class="confirm-place" ref={place}>
      {open.value ? (
        <Question
          title={ask}
          question={question}
          deed={deed}
          onKeep={close}
          onDeed={() => {
            close()
            onConfirm()
          }}
        />
      ) : (
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
      )}
    </span>
  )
}
