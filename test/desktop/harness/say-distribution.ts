/** `npm run e2e` says first what it runs on; the test runner would have its own first words. */
import { sayDistribution } from './distribution.ts'

sayDistribution()
