/** What the person chose for the desktop itself. Kept apart from the agent's settings, which the command line obeys too. */
import { z } from 'zod'

export const desktopSettings = z.strictObject({
  /** Start with the user's session, in the tray. */
  startAtLogin: z.boolean().default(false),
  notifications: z.boolean().default(true),
  theme: z.enum(['system', 'light', 'dark']).default('system'),
})
export type DesktopSettings = z.infer<typeof desktopSettings>
