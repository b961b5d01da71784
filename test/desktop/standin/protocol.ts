/**
 * `protocol`: custom schemes. Chromium itself does not know `app://`, so `app://host/x` travels as
 * `https://host.app.standin/x`, is caught before it reaches the network, and is answered by the app's handler.
 */
type Answerer = (request: Request) => Response | Promise<Response>

const handlers = new Map<string, Answerer>()
const registered = new Set<string>()

export const protocol = {
  registerSchemesAsPrivileged(schemes: readonly { readonly scheme: string }[]): void {
    for (const { scheme } of schemes) registered.add(scheme)
  },
  handle(scheme: string, answer: Answerer): void {
    handlers.set(scheme, answer)
  },
}

const ours = /^([a-z][a-z0-9+.-]*):\/\/([^/]*)(.*)$/
const theirs = /^https:\/\/([^/]*)\.([a-z0-9+-]+)\.standin/

/** An address as the browser sees it. */
export function travelling(url: string): string {
  const [, scheme = '', host = '', rest = ''] = ours.exec(url) ?? []
  return registered.has(scheme) ? `https://${host}.${scheme}.standin${rest === '' ? '/' : rest}` : url
}

/** An address as the app sees it. */
export const own = (url: string): string => url.replace(theirs, '$2://$1')

/** The handler's answer, or undefined where the address is the network's. */
export async function answerOf(url: string, method: string): Promise<Response | undefined> {
  const handler = handlers.get(own(url).split(':')[0] ?? '')
  if (handler === undefined) return undefined
  const request = new Request(url, { method })
  // The app reads the address that it knows.
  Object.defineProperty(request, 'url', { value: own(url) })
  try {
    return await handler(request)
  } catch (thrown) {
    return new Response(String(thrown), { status: 500 })
  }
}
