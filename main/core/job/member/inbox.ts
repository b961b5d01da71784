/** Where each message for a member goes. */
import { BadMessageError } from '../../../../shared/errors.ts'
import type { PeerId } from '../../../../shared/ids.ts'
import type { WireMessage, WireType } from '../../../../shared/messages/wire.ts'
import type { LinkProbes } from '../link-probes.ts'
import type { FromHost } from './from-host.ts'
import type { ShardExchange } from './shard-exchange.ts'
import type { StateExchange } from './state-exchange.ts'

export interface InboxParts {
  readonly host: PeerId
  readonly fromHost: FromHost
  readonly probes: LinkProbes
  readonly shards: ShardExchange
  readonly numbers: StateExchange
  /** Whether it may plan while the host is gone. */
  readonly isDeputy: (peer: PeerId) => boolean
  /** Everything between stages and rings. */
  readonly toStage: (from: PeerId, message: WireMessage) => void
}

const exchanges: Readonly<Partial<Record<WireType, 'probes' | 'shards' | 'numbers'>>> = {
  ...{ probe: 'probes', 'probe-reply': 'probes' },
  ...{ 'shard-request': 'shards', 'shard-piece': 'shards', 'shard-refused': 'shards' },
  ...{ 'state-request': 'numbers', 'state-piece': 'numbers', 'state-refused': 'numbers' },
}

/** @throws BadMessageError */
export function deliverTo(parts: InboxParts, from: PeerId, message: WireMessage): void {
  const { type } = message.header
  const exchange = exchanges[type]
  const fromHost = parts.fromHost[type] as ((message: WireMessage) => void) | undefined
  if (exchange === 'probes') parts.probes.deliver(from, message as WireMessage<'probe' | 'probe-reply'>)
  else if (exchange !== undefined) parts[exchange].deliver(from, message)
  else if (fromHost === undefined) parts.toStage(from, message)
  else {
    const isDeputys = type === 'replan' && parts.isDeputy(from)
    if (from !== parts.host && !isDeputys) throw new BadMessageError(`only the host may send ${type}`)
    fromHost(message)
  }
}
