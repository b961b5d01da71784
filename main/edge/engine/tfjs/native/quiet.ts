/** What is set before a native library is loaded, by a thread that loads nothing of TensorFlow.js. */

/**
 * TensorFlow greets its user on stderr; only errors are let through. For the main thread of a process: a worker's
 * environment is a copy that native code does not see.
 */
export function quietTensorflow(): void {
  process.env['TF_CPP_MIN_LOG_LEVEL'] ??= '2'
}
