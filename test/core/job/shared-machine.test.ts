import { describe, expect, it } from 'vitest'
import { sharedProcessors } from '../../../main/core/job/host/shared-machine.ts'

const member = (peer: string, ...addresses: string[]) => ({ peer, addresses })
const loopback = '/ip4/127.0.0.1/tcp/4001'

describe('peers on the host’s machine', () => {
  it('are those that can be reached on loopback alone', () => {
    const members = [
      member('host', loopback, '/ip4/192.168.1.2/tcp/4001'),
      member('here', '/ip4/127.0.0.1/tcp/4002'),
      member('here-too', '/ip6/::1/tcp/4003', '/ip4/127.0.0.2/tcp/4003'),
      member('elsewhere', loopback, '/ip4/192.168.1.3/tcp/4001'),
      member('behind-a-relay'),
    ]
    expect(sharedProcessors(members, 'host', 2)).toEqual({
      peers: new Set(['host', 'here', 'here-too']),
      processors: 2,
    })
  })

  it('share nothing where there is one, or nobody knows how many processors it has', () => {
    expect(sharedProcessors([member('host', loopback)], 'host', 2)).toBeUndefined()
    expect(
      sharedProcessors([member('host', loopback), member('here', loopback)], 'host', undefined),
    ).toBeUndefined()
  })
})
