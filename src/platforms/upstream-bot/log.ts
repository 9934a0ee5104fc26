/** Where sessions tell what nobody else is told. */
import type { Logger } from '../../../actors/ports/ports.ts'

export type Log = Pick<Logger, 'info' | 'warn'>
