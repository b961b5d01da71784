/** The part of fpm that electron-builder uses for a .deb, done with dpkg-deb: no Ruby, no download. */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

interface Wish {
  readonly options: ReadonlyMap<string, string>
  readonly depends: readonly string[]
  readonly recommends: readonly string[]
  /** `source=destination`, a source folder with a slash at its end. */
  readonly files: readonly string[]
}

const withoutValue = new Set(['--force', '--debug'])

function readArguments(given: readonly string[]): Wish {
  const options = new Map<string, string>()
  const depends: string[] = []
  const recommends: string[] = []
  const files: string[] = []
  for (let index = 0; index < given.length; index++) {
    const name = given[index] ?? ''
    if (withoutValue.has(name)) continue
    if (!name.startsWith('-')) files.push(name)
    else {
      const value = given[++index] ?? ''
      if (name === '-d') depends.push(value)
      else if (name === '--deb-recommends') recommends.push(value)
      else options.set(name, value)
    }
  }
  return { options, depends, recommends, files }
}

function copyFiles(root: string, files: readonly string[]): void {
  for (const pair of files) {
    const at = pair.lastIndexOf('=')
    const source = pair.slice(0, at)
    const destination = join(root, pair.slice(at + 1))
    const isFolder = source.endsWith('/')
    mkdirSync(isFolder ? destination : dirname(destination), { recursive: true })
    execFileSync('cp', ['-a', isFolder ? `${source}.` : source, destination])
  }
}

function control({ options, depends, recommends }: Wish, kibibytes: number): string {
  const [synopsis = '', ...rest] = (options.get('--description') ?? '').split('\n')
  const lines = [
    `Package: ${options.get('--name') ?? ''}`,
    `Version: ${options.get('--version') ?? ''}`,
    `Architecture: ${options.get('--architecture') ?? ''}`,
    `Maintainer: ${options.get('--maintainer') ?? ''}`,
    `Installed-Size: ${kibibytes}`,
    `Section: ${options.get('--category') ?? 'misc'}`,
    `Priority: ${options.get('--deb-priority') ?? 'optional'}`,
    `Depends: ${depends.join(', ')}`,
    `Recommends: ${recommends.join(', ')}`,
    `Description: ${synopsis}`,
    ...rest.map((line) => ` ${line.trim() === '' ? '.' : line.trim()}`),
  ]
  return `${lines.join('\n')}\n`
}

const wish = readArguments(process.argv.slice(2))
const root = mkdtempSync(join(tmpdir(), 'rookery-fpm-'))
// `/` of the package; a temporary folder is for its owner only.
chmodSync(root, 0o755)
copyFiles(root, wish.files)
const size = Number(execFileSync('du', ['-sk', root], { encoding: 'utf8' }).split('\t')[0])
mkdirSync(join(root, 'DEBIAN'))
writeFileSync(join(root, 'DEBIAN/control'), control(wish, size))
for (const [script, option] of [
  ['postinst', '--after-install'],
  ['postrm', '--after-remove'],
] as const) {
  const source = wish.options.get(option)
  if (source === undefined) continue
  copyFileSync(source, join(root, 'DEBIAN', script))
  chmodSync(join(root, 'DEBIAN', script), 0o755)
}
const out = wish.options.get('--package') ?? ''
// Compressed lightly: this package is for tests.
execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z1', '--build', root, out])
rmSync(root, { recursive: true })
