/** Serves the window's own files as `app://rookery/…`, and nothing else. */
import { readFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'

export const windowOrigin = 'app://rookery'
export const windowPage = `${windowOrigin}/index.html`

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/** Own scripts and styles only; pictures of data travel as data URLs. No frame, no form, no connection anywhere. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const headers = {
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

/** @returns the file's path inside the folder; undefined for anything that is no plain name in it */
export function fileInside(folder: string, url: string): string | undefined {
  // The URL itself, not a parsed one: a parser would already have walked `..` up.
  const path = url.startsWith(`${windowOrigin}/`) ? url.slice(windowOrigin.length + 1).split(/[?#]/)[0] : ''
  const names = path?.split('/') ?? []
  const plain = names.every((name) => /^[\w-][\w.-]*$/.test(name))
  return plain ? join(folder, names.join(sep)) : undefined
}

/** The answer to one request of the window. */
export async function serveFile(folder: string, url: string): Promise<Response> {
  const path = fileInside(folder, url)
  const type = path === undefined ? undefined : types[extname(path)]
  try {
    if (path === undefined || type === undefined) return notFound()
    return new Response(new Uint8Array(await readFile(path)), {
      headers: { ...headers, 'Content-Type': type },
    })
  } catch {
    return notFound()
  }
}

const notFound = (): Response => new Response('there is no such file', { status: 404, headers })
