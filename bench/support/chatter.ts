/** A network that says what a benchmark tells it to: text messages with the time of their report in them. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Platform, SessionReport } from '../../actors/ports/platform.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Happening } from '../../machines/model/happening.ts'
import { now } from './statistics.ts'

const writer = { native: '5001', firstName: 'Ada', username: 'ada_lovelace', languageCode: 'en' }
const chat = { ...writer, surface: 'private' as const }
/** The log knows what an earlier run has told, and would drop the same again. */
const RUN = Date.now()
const words = 'the quick brown fox jumps over the lazy dog and runs into the forest'

export interface Speech {
  readonly credentialIds: readonly number[]
  /** Messages of one report. */
  readonly batch: number
  /** Reports of each credential, one after another. */
  readonly reports: number
  /** Between the beginnings of two reports; 0: as soon as there is room. */
  readonly everyMs: number
  /** Reports of one credential that may wait for their acknowledgement; one, unless given. */
  readonly inFlight?: number
}

export interface Drizzle {
  readonly credentialIds: readonly number[]
  readonly perSecond: number
  readonly seconds: number
}

export class Chatter {
  readonly #reports = new Map<number, SessionReport>()
  readonly #told = new Map<number, number>()

  readonly platform: Platform = {
    id: 'chatter',
    name: 'Chatter',
    linkMethods: [],
    capabilities: {
      operations: [],
      surfaces: ['private'],
      content: ['text'],
      buttons: false,
      entities: [],
      updates: ['message'],
      limits: { textLength: 4096 },
    },
    ids: 'integer',
    sessions: 'shared',
    sends: 'blind',
    startLink: async () => Promise.reject(failed('bad_request', 'there is nothing to link')),
    resumeLink: async () => Promise.reject(failed('bad_request', 'there is nothing to link')),
    open: (account, report) => {
      this.#reports.set(account.credentialId, report)
      queueMicrotask(() => report.opened(account.identity))
      return {
        perform: async () => Promise.reject(failed('bad_request', 'nothing can be sent')),
        probe: async () => 1,
        download: async () => Promise.reject(failed('bad_request', 'there are no files')),
        close: async () => undefined,
      }
    },
  }

  /** Every credential reports in its own time; resolves once all of it is stored. */
  async speak({ credentialIds, batch, reports, everyMs, inFlight = 1 }: Speech): Promise<void> {
    await Promise.all(
      credentialIds.map(async (credentialId) => {
        const began = now()
        let round = 0
        const speak = async () => {
          while (round < reports) {
            const early = began + round++ * everyMs - now()
            if (early > 1) await pause(early)
            await this.#report(credentialId, batch)
          }
        }
        await Promise.all(Array.from({ length: inFlight }, speak))
      }),
    )
  }

  /** Single messages for credentials drawn by lot, at an even rate; nobody waits for the one before. */
  async drizzle({ credentialIds, perSecond, seconds }: Drizzle): Promise<number> {
    const began = now()
    const stored: Promise<void>[] = []
    while (stored.length < perSecond * seconds) {
      const due = Math.min(perSecond * seconds, ((now() - began) / 1000) * perSecond)
      while (stored.length < due) {
        const credentialId = credentialIds[Math.floor(Math.random() * credentialIds.length)] ?? 0
        stored.push(this.#report(credentialId, 1))
      }
      await pause(2)
    }
    await Promise.all(stored)
    return stored.length
  }

  #report(credentialId: number, messages: number): Promise<void> {
    const first = (this.#told.get(credentialId) ?? 0) + 1
    this.#told.set(credentialId, first + messages - 1)
    const happenings = Array.from({ length: messages }, (_, index) => messageOf(first + index))
    const report = this.#reports.get(credentialId)
    if (!report) throw new Error(`credential ${credentialId} has no session`)
    return report.events(happenings, first + messages - 1)
  }
}

function messageOf(number: number): Happening {
  const at = Math.floor(Date.now() / 1000)
  const text = `${now()} ${words}`
  return {
    kind: 'message',
    sourceKey: `message:${RUN}:${number}`,
    direction: 'incoming',
    at,
    message: {
      native: `${number}`,
      chat,
      from: writer,
      at,
      content: { kind: 'text', text, entities: [] },
    },
  }
}
