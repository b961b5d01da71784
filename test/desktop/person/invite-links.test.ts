/** Links of the system are shown when they are whole invites, and refused with a sentence when they are not. */
import { describe, expect, it } from 'vitest'
import { linkAmong, readLink } from '../../../main/desktop/person/invite-links.ts'
import { goodLink, hostileLinks } from '../harness/hostile-links.ts'

describe('a link that the system hands over', () => {
  it('is an invite when it is whole', () => {
    expect(readLink(` ${goodLink}\n`, 0)).toEqual({ type: 'invite', invite: goodLink })
  })

  it('is found among the arguments of a start, wherever it stands', () => {
    expect(linkAmong(['/opt/rookery', '--hidden', goodLink])).toBe(goodLink)
    expect(linkAmong(['/opt/rookery', '/home/me/rookery:notes'])).toBeUndefined()
  })

  it('comes in fifty ways to be wrong', () => {
    expect(new Set(hostileLinks).size).toBe(50)
  })

  it.each(hostileLinks.map((link) => [link.slice(0, 60), link]))('is refused: %s', (_shown, link) => {
    const read = readLink(link, 1000)
    expect(read.type).toBe('refused')
    // One sentence that says what to do.
    expect(read).toHaveProperty(
      'sentence',
      expect.stringMatching(/^this (is not an invite|invite is damaged|invite has expired): /),
    )
  })
})
