/** The building blocks of every page: heading, card, banner, fault, state word, bars. */
import type { ComponentChildren, JSX } from 'preact'
import type { Asker } from '../ask.ts'
import type { Tone } from '../words/this-pc.ts'
import { Icon } from './icon.tsx'
import type { IconName } from './icon.tsx'

interface Children {
  readonly children?: ComponentChildren
}

export function PageHead({
  title,
  lead,
  children,
}: Children & { readonly title: string; readonly lead: ComponentChildren }): JSX.Element {
  return (
    <header class="head">
      <div>
        <h1 id="title" tabIndex={-1}>
          {title}
        </h1>
        <p>{lead}</p>
      </div>
      {children === undefined ? null : <div class="actions">{children}</div>}
    </header>
  )
}

export function Card({
  title,
  side,
  children,
}: Children & { readonly title: string; readonly side?: ComponentChildren }): JSX.Element {
  return (
    <section class="card">
      <div class="top">
        <h2>{title}</h2>
        {side}
      </div>
      {children}
    </section>
  )
}

const roles = { trouble: 'alert', fine: 'status', caution: undefined } as const

export function Banner({
  tone,
  icon,
  title,
  children,
}: Children & {
  readonly tone: 'caution' | 'trouble' | 'fine'
  readonly icon: IconName
  readonly title: string
}): JSX.Element {
  return (
    <section class={`banner is-${tone}`}>
      <Icon name={icon} />
      <div>
        <h2>
          {/* The title alone is told: what stands below it may count seconds. */}
          <span role={roles[tone]}>{title}</span>
        </h2>
        {children}
      </div>
    </section>
  )
}

/** The sentence of a command that failed, beside what caused it. */
export function Fault({ of }: { readonly of: Asker }): JSX.Element | null {
  return of.fault.value === '' ? null : <FaultText text={of.fault.value} />
}

export function FaultText({ text }: { readonly text: string }): JSX.Element {
  return (
    <p class="fault" role="alert">
      <Icon name="bad" />
      <span>{text}</span>
    </p>
  )
}

const toneIcons: Readonly<Record<Tone, IconName>> = {
  training: 'training',
  paused: 'paused',
  waiting: 'wait',
  trouble: 'bad',
  idle: 'idle',
}

export function StateWord({ tone, word }: { readonly tone: Tone; readonly word: string }): JSX.Element {
  return (
    <span class={`state is-${tone}`}>
      <Icon name={toneIcons[tone]} />
      {word}
    </span>
  )
}

export function Progress({ share, label }: { readonly share: number; readonly label: string }): JSX.Element {
  const filled = Math.max(0, Math.min(100, share * 100))
  return (
    <svg class="progress" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect class="bar-track" width="100" height="8" />
      <rect class="bar-fill" width={filled} height="8" />
    </svg>
  )
}

/** Use of something, drawn against the limit agreed; without a limit only the number. */
export function Meter({
  name,
  share,
  words,
}: {
  readonly name: string
  readonly share: number | null
  readonly words: string
}): JSX.Element {
  if (share === null)
    return (
      <div class="row">
        <span class="grow">{name}</span>
        <span class="soft">{words}</span>
      </div>
    )
  const filled = Math.round(Math.max(0, Math.min(1, share)) * 100)
  return (
    <div
      class="meter"
      role="meter"
      aria-label={name}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={filled}
      aria-valuetext={words}
    >
      <span>{name}</span>
      <span class="soft">{words}</span>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="bar-track" width="100" height="8" />
        <rect class="bar-fill" width={filled} height="8" />
      </svg>
    </div>
  )
}

/** A decision's footer: what it costs on the left, the choices on the right, always in view. */
export function Foot({ text, children }: Children & { readonly text: ComponentChildren }): JSX.Element {
  return (
    <div class="foot">
      <div class="grow">{text}</div>
      <div class="actions">{children}</div>
    </div>
  )
}
