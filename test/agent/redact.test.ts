import { describe, expect, it } from 'vitest'
import { redact } from '../../main/agent/redact.ts'

const names = {
  folders: [
    ['/home/ada/.local/share/rookery', '<home>'],
    ['/home/ada', '~'],
    ['C:\\Users\\Ada', '~'],
  ],
  names: [
    ['Ada’s laptop', '<this-pc>'],
    ['ada', '<user>'],
    ['', '<nobody>'],
    ['pi', '<member-1>'],
  ],
} as const

const clean = (text: string) => redact(text, names)

describe('a text for a bug report', () => {
  it.each([
    ['an invite', 'join rookery://join/YWJjZGVm_-09 now', 'join <invite> now'],
    ['a peer', 'peer 12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN is lost', 'peer <peer> is lost'],
    ['an address of the swarm', '["/ip4/192.168.1.7/tcp/4001/p2p/12D3KooWabc"]', '["<address>"]'],
    ['a name of the swarm', 'at /dns4/pc.example.org/tcp/1', 'at <address>'],
    ['an address with a port', 'connect ECONNREFUSED 10.0.0.1:4001', 'connect ECONNREFUSED <address>'],
    ['an address of six', 'from 2001:db8:85a3:0:0:8a2e:370:7334.', 'from <address>.'],
    [
      'a short address of six',
      'from fe80::1ff:fe23:4567:890a and 2001:db8::1',
      'from <address> and <address>',
    ],
    ['a key in hex', `job ${'ab'.repeat(32)}`, 'job <hex>'],
    ['a secret of an invite', `secret ${'0f'.repeat(16)}`, 'secret <hex>'],
    ['a private key', `"privateKey":"${'CAESQ'.repeat(18)}=="`, '"privateKey":"<secret>"'],
    ['a folder of the agent', '/home/ada/.local/share/rookery/models/x', '<home>/models/x'],
    ['a folder of the user', 'ENOENT /home/ada/data.csv', 'ENOENT ~/data.csv'],
    [
      'a folder of another user',
      '/home/bob/data.csv, /Users/eve/x',
      '/home/<user>/data.csv, /Users/<user>/x',
    ],
    ['a Windows folder', 'C:\\Users\\Ada\\x', '~\\x'],
    ['a Windows folder in JSON', JSON.stringify({ at: 'C:\\Users\\Ada\\x' }), '{"at":"~\\\\x"}'],
    [
      'another Windows folder in JSON',
      JSON.stringify({ at: 'D:\\Users\\Bob\\x' }),
      '{"at":"D:\\\\Users\\\\<user>\\\\x"}',
    ],
    ['the name of this PC', 'Ada’s laptop pauses', '<this-pc> pauses'],
    ['a name in any case', 'ADA said', '<user> said'],
    ['a short name', 'pi joined', '<member-1> joined'],
  ])('loses %s', (_, text, shown) => {
    expect(clean(text)).toBe(shown)
  })

  it.each([
    'the pipeline adapts',
    '{"at":"2026-11-29T22:41:07.123Z","level":"info","text":"agent 0.1.0 runs"}',
    'validation loss 0.214, accuracy 93.4 %, plan 12:30:45',
    'x86_64 linux 6.1.0-18-amd64, node 24.3.0',
    'main/core/job/member/member.ts:123:45',
  ])('keeps "%s"', (text) => {
    expect(clean(text)).toBe(text)
  })
})
