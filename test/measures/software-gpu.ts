/** A GPU that the processor imitates, for tests on machines without one: SwiftShader, as Chromium brings it. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'

const drivers = [
  '/usr/lib/chromium/vk_swiftshader_icd.json',
  '/usr/lib/chromium-browser/vk_swiftshader_icd.json',
  '/opt/google/chrome/vk_swiftshader_icd.json',
]

/** The environment of a process whose Vulkan is SwiftShader; empty where it is not installed or the caller chose. */
export function softwareGpu(): Record<string, string> {
  if (process.env['VK_ICD_FILENAMES'] !== undefined) return {}
  const driver = drivers.find((file) => existsSync(file))
  if (process.platform !== 'linux' || driver === undefined) return {}
  // Chromium's folder holds the loader (libvulkan.so.1), too; it is looked for when the process starts.
  const libraries = [dirname(driver), process.env['LD_LIBRARY_PATH']].filter(Boolean).join(':')
  return { VK_ICD_FILENAMES: driver, LD_LIBRARY_PATH: libraries }
}
