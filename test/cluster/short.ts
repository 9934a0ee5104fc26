/** The short form: a fault of each kind on one stage, in less than four minutes on two cores that do nothing else. */
import type { Plan } from './rounds.ts'

export const SHORT: Omit<Plan, 'seed'> = {
  suites: [
    ['crash', 2],
    ['freeze', 1],
    ['rolling', 1],
    ['postgres', 1],
    ['partition', 1],
    ['redis', 1],
  ],
  nodes: 3,
  accounts: 9,
  idle: 0,
  bots: { polling: 2, webhook: 2, grammY: 1, Telegraf: 1, 'python-telegram-bot': 1 },
  writesPerSecond: 16,
  sendsPerSecond: 16,
}
