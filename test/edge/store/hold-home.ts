/** A process that takes a home and keeps it until it is killed. */
import { lockHome } from '../../../main/edge/store/home.ts'

await lockHome(process.argv[2] ?? '')
process.stdout.write('held\n')
setInterval(() => undefined, 1000)
