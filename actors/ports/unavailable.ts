/** Stand-ins for what cannot be used: a session that refuses everything, and a platform that only shows itself. */
import { failed } from '../../machines/model/failure.ts'
import type { Platform, Session, SessionReport } from './platform.ts'

/** A session that never was. Reports its end once the caller of `open` has it, as every other report comes. */
export function refusingSession(description: string, report: () => void): Session {
  queueMicrotask(report)
  const refuse = () => Promise.reject(failed('unavailable', description))
  return { perform: refuse, probe: refuse, download: refuse, close: async () => undefined }
}

interface Unavailability {
  /** For users, who cannot change it. */
  readonly description: string
  /** How each session of its accounts is reported. */
  lost(report: SessionReport): void
}

/** Its accounts wait and can be deleted; nothing can be linked. */
export function unavailablePlatform(
  facts: Pick<Platform, 'id' | 'name' | 'ids' | 'capabilities' | 'linkMethods'>,
  { description, lost }: Unavailability,
): Platform {
  const refuse = () => Promise.reject(failed('unavailable', description))
  return {
    ...facts,
    unavailable: description,
    startLink: refuse,
    resumeLink: refuse,
    open: (_, report) => refusingSession(description, () => lost(report)),
  }
}
