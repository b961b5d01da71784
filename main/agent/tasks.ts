/** One-shot work for the command line, done in its own process: no job, no network. */
export { benchDeviceTask } from './tasks/bench-device.ts'
export { demoBudgetsTask } from './tasks/demo-budgets.ts'
export { evaluateTask } from './tasks/evaluate.ts'
export { planTask } from './tasks/plan.ts'
export { predictTask } from './tasks/predict.ts'
export { simulateTask } from './tasks/simulate.ts'
