/** Links of one peer whose messages leave through a bucket of tokens, as many home lines have: a burst passes at once. */
import type { Links } from '../../../main/core/ports.ts'
import type { WireMessage } from '../../../shared/messages/wire.ts'
import type { createVirtualClock } from '../../fakes/clock.ts'

export interface RatedLine {
  readonly clock: ReturnType<typeof createVirtualClock>
  readonly bytesPerSecond: number
  readonly burstBytes: number
  /** There and back, of an answer. */
  readonly roundTripMs: number
  /** An answer has come. */
  readonly answered: (message: WireMessage<'probe' | 'probe-reply'>) => void
}

/** @returns what `createLinkProbes` needs of links */
export function createRatedLinks(line: RatedLine): Links {
  const { clock, bytesPerSecond, burstBytes, roundTripMs, answered } = line
  let tokens = burstBytes
  let atMs = clock.now()
  return {
    self: 'a',
    async send(_to, { header, tensors }) {
      const bytes = tensors.reduce((sum, { data }) => sum + data.byteLength, 0)
      tokens = Math.min(burstBytes, tokens + ((clock.now() - atMs) * bytesPerSecond) / 1000) - bytes
      atMs = clock.now()
      const waitMs = Math.max(0, (-tokens / bytesPerSecond) * 1000)
      if (header.type !== 'probe') return
      const reply = { header: { ...header, type: 'probe-reply' as const }, tensors: [] }
      void clock.sleep(waitMs + roundTripMs).then(() => {
        answered(reply)
      })
      await clock.sleep(0)
    },
    onMessage: () => () => undefined,
    onLost: () => () => undefined,
    learnAddresses: () => Promise.resolve(),
    addresses: () => [],
    sentBytes: () => ({ control: 0, activations: 0, gradients: 0, parameters: 0, data: 0 }),
  }
}
