import { describe, expect, it } from 'vitest'
import { withNames } from '../../../main/core/job/named.ts'
import { peers } from '../../renderer/fixtures/people.ts'

describe('sentences about other PCs', () => {
  it('say names in place of keys, several in a row, and nothing twice', () => {
    const members = [
      { peer: peers.attic, displayName: peers.tower },
      { peer: peers.tower, displayName: '$& tower' },
    ]
    expect(withNames(`waiting for ${peers.attic}, ${peers.tower} to be ready to average`, members)).toBe(
      `waiting for ${peers.tower}, $& tower to be ready to average`,
    )
  })

  it('know a key by its look where nobody told the name, and leave words alone', () => {
    const stranger = '12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN'
    expect(withNames(`waiting for gradients from ${stranger}`, [])).toBe(
      'waiting for gradients from another PC',
    )
    expect(withNames('waiting for the averaging round', [])).toBe('waiting for the averaging round')
  })
})
