/** Every command of the window checks who asks and what is asked, before anything is done. */
import { describe, expect, it } from 'vitest'
import { serveWindow, type WindowHandlers } from '../../main/desktop/ipc.ts'
import { InvalidInputError } from '../../shared/errors.ts'
import { type Outcome, windowCommands } from '../../shared/messages/ipc.ts'

type Listener = (event: never, input: unknown) => Promise<Outcome<unknown>>

const names = Object.keys(windowCommands) as (keyof typeof windowCommands)[]

function setUp() {
  const channels = new Map<string, Listener>()
  const done: string[] = []
  const handlers = Object.fromEntries(
    names.map((name) => [name, () => Promise.resolve(void done.push(name))]),
  ) as unknown as WindowHandlers
  serveWindow(
    { handle: (name, listener) => void channels.set(name, listener as Listener) },
    handlers,
    () => ({ id: 1 }) as never,
  )
  const page = { url: 'app://rookery/index.html', parent: null }
  return {
    done,
    ask: (name: string, input: unknown, event: object = {}) =>
      channels.get(`command:${name}`)!({ sender: { id: 1 }, senderFrame: page, ...event } as never, input),
  }
}

describe('a command of the window', () => {
  it.each(names)('%s is refused to any other sender', async (name) => {
    const { ask, done } = setUp()
    const strangers = [
      { sender: { id: 2 } },
      { senderFrame: null },
      { senderFrame: { url: 'app://rookery/index.html', parent: {} } },
      { senderFrame: { url: 'https://evil.example/', parent: null } },
      { senderFrame: { url: 'app://rookery.evil.example/', parent: null } },
    ]
    for (const event of strangers)
      expect(await ask(name, {}, event)).toMatchObject({ ok: false, error: { code: 'foreign-sender' } })
    expect(done).toEqual([])
  })

  it.each(names)('%s is refused with arguments of another shape', async (name) => {
    const { ask, done } = setUp()
    for (const input of [undefined, null, 7, 'text', [], () => undefined])
      expect(await ask(name, input)).toMatchObject({
        ok: false,
        error: { kind: 'bad-input', code: 'invalid-input' },
      })
    expect(done).toEqual([])
  })

  it.each([
    ['join', { invite: 'x'.repeat(5000) }],
    ['pause', { forMs: -1 }],
    ['setLimits', { computeShare: 7 }],
    ['setLimits', { unknown: true }],
    ['chooseFile', { kind: 'anything' }],
    ['copyText', { text: 'x'.repeat(10_001) }],
    ['setDesktop', { theme: 'pink' }],
    ['openExternal', { url: 'http://github.com/' }],
    ['openExternal', { url: 'file:///etc/passwd' }],
    ['openExternal', { url: 'https://github.com.evil.example/' }],
    ['openExternal', { url: 'https://github.com@evil.example/' }],
    ['openExternal', { url: 'javascript:alert(1)' }],
  ])('%s is refused: %j', async (name, input) => {
    const { ask, done } = setUp()
    expect(await ask(name, input)).toMatchObject({ ok: false, error: { code: 'invalid-input' } })
    expect(done).toEqual([])
  })

  it('is answered with what went wrong, as a value', async () => {
    const channels = new Map<string, Listener>()
    const handlers = {
      status: () => Promise.reject(new InvalidInputError('no')),
    } as unknown as WindowHandlers
    serveWindow(
      { handle: (name, listener) => void channels.set(name, listener as Listener) },
      handlers,
      () => ({ id: 1 }) as never,
    )
    const event = { sender: { id: 1 }, senderFrame: { url: 'app://rookery/index.html', parent: null } }
    expect(await channels.get('command:status')!(event as never, {})).toEqual({
      ok: false,
      error: { kind: 'bad-input', code: 'invalid-input', message: 'no' },
    })
  })
})
