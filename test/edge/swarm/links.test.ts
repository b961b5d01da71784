/** libp2p keeps the promises of `Links`. */
import { describeLinks } from '../../contracts/links.ts'
import { openPool } from './pool.ts'

describeLinks('libp2p on loopback', openPool)
