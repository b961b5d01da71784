/** The invite that a person looks at: typed here, pasted on Home, or opened as a link from outside. Joining always asks. */
import { effect, signal } from '@preact/signals'
import type { JoinCard } from '../../../shared/messages/cards.ts'
import { createAsker } from '../ask.ts'
import { desktop, goTo } from '../state.ts'
import { shownName } from '../words/shown-name.ts'

export const invite = signal('')
export const card = signal<JoinCard | null>(null)
export const looking = createAsker()

/** Ask the agent what the invite leads to. Nothing is joined. */
export async function lookAt(link: string): Promise<void> {
  const text = link.trim()
  invite.value = text
  card.value = null
  if (text === '') {
    await looking.ask(() =>
      Promise.resolve({
        ok: false,
        error: {
          kind: 'bad-input',
          code: 'no-invite',
          message: 'paste the invite link that the host sent you',
        },
      }),
    )
    return
  }
  const found = await looking.ask(() => window.rookery.preview({ invite: text }))
  // Another link may have been pasted meanwhile.
  if (found !== undefined && invite.peek() === text)
    card.value = { ...found, name: shownName(found.name), hostName: shownName(found.hostName) }
}

/** Forget it, here and in the desktop. */
export function putAside(): void {
  const pending = desktop.peek()?.pendingInvite ?? null
  invite.value = ''
  card.value = null
  looking.clear()
  if (pending !== null) void window.rookery.dismissInvite({})
}

/** A `rookery://` link from outside opens its card. */
export function followInvites(): void {
  let seen: string | null = null
  effect(() => {
    const pending = desktop.value?.pendingInvite ?? null
    if (pending === seen) return
    seen = pending
    if (pending === null) return
    goTo('join')
    void lookAt(pending)
  })
}
