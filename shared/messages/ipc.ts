/** What the window may ask of the desktop's main process, and what it is told. The whole border between the two. */
import { z } from 'zod'
import { desktopSettings } from '../desktop-settings.ts'
import { type ErrorReport } from '../errors.ts'
import { commands, type Snapshot } from './control.ts'

/** Pages that the window may open in the person's browser: https, and one of these hosts. */
const externalHosts = ['arxiv.org', 'github.com', 'www.apache.org']
const externalUrl = z
  .url({ protocol: /^https$/ })
  .max(500)
  .refine((url) => externalHosts.includes(new URL(url).host), 'Rookery opens no such page')

/** What the desktop knows and the agent does not. */
export const desktopState = z.object({
  /** `stopped`: it ended and `tries` restarts did not help, or the next one is due at `nextTryAtMs`. */
  agent: z.enum(['starting', 'running', 'stopped']),
  /** Restarts since it last ran well: 0 at first, at most `mostTries`. */
  tries: z.int().min(0),
  mostTries: z.int().min(1),
  /** Milliseconds since 1970; null while it runs, starts, or when we gave up. */
  nextTryAtMs: z.number().nullable(),
  /** Why it is not running, in one sentence; empty while it is. */
  cause: z.string(),
  /** False: closing the window minimises it, as there is no tray to hide in. */
  tray: z.boolean(),
  startAtLogin: z.boolean(),
  notifications: z.boolean(),
  theme: z.enum(['system', 'light', 'dark']),
  version: z.string(),
  /** Opened from a `rookery://` link; the window asks before it joins, then says `dismissInvite`. */
  pendingInvite: z.string().max(4096).nullable(),
})
export type DesktopState = z.infer<typeof desktopState>

/** Commands that Electron's main process answers itself. */
export const desktopCommands = {
  desktopState: { in: z.strictObject({}), out: desktopState },
  /** Start an agent that stopped, now and with all its tries. */
  startAgent: { in: z.strictObject({}), out: z.null() },
  /** The person picks; null when they close the dialog. */
  chooseFile: {
    in: z.strictObject({ kind: z.enum(['data', 'folder', 'model', 'identity']) }),
    out: z.object({ path: z.string().nullable() }),
  },
  /** Where to write a file or folder; null when they close the dialog. */
  saveAs: {
    in: z.strictObject({ suggested: z.string().min(1).max(200) }),
    out: z.object({ path: z.string().nullable() }),
  },
  /** Into a file that opens like the link; null when they close the dialog. */
  saveInvite: {
    in: z.strictObject({ job: z.string().max(200), invite: z.string().max(4096) }),
    out: z.object({ path: z.string().nullable() }),
  },
  copyText: { in: z.strictObject({ text: z.string().max(10_000) }), out: z.null() },
  /** Show the agent's log folder in the file manager. */
  openLogs: { in: z.strictObject({}), out: z.null() },
  setDesktop: {
    in: z.strictObject({
      startAtLogin: z.boolean().optional(),
      notifications: z.boolean().optional(),
      theme: desktopSettings.shape.theme.unwrap().optional(),
    }),
    out: desktopState,
  },
  openExternal: { in: z.strictObject({ url: externalUrl }), out: z.null() },
  dismissInvite: { in: z.strictObject({}), out: z.null() },
} as const

/** Of the agent's commands, those whose paths come from a person's choice take absolute ones. */
export const windowCommands = { ...commands, ...desktopCommands } as const
export type WindowCommandName = keyof typeof windowCommands
export type DesktopCommandName = keyof typeof desktopCommands
export type WindowInput<N extends WindowCommandName> = z.infer<(typeof windowCommands)[N]['in']>
export type WindowOutput<N extends WindowCommandName> = z.infer<(typeof windowCommands)[N]['out']>

/** An answer as a value: error objects lose their kind and code between the preload and the page. */
export type Outcome<T> =
  { readonly ok: true; readonly output: T } | { readonly ok: false; readonly error: ErrorReport }

type Remove = () => void

/** `window.rookery`: one function a command, which never rejects, and the two states. */
export type Bridge = {
  readonly [N in WindowCommandName]: (input: WindowInput<N>) => Promise<Outcome<WindowOutput<N>>>
} & {
  /** The newest snapshot at once where there is one, then each new one while the window is seen. */
  readonly onSnapshot: (listener: (snapshot: Snapshot) => void) => Remove
  readonly onDesktop: (listener: (state: DesktopState) => void) => Remove
}
