/** Stands in for a platform that this build or configuration does not have: its accounts wait, and can be deleted. */
import { failed } from '../../machines/model/failure.ts'
import type { Platform, Session } from '../ports/platform.ts'

const RETRY_SECONDS = 300

export function missingPlatform(id: string): Platform {
  const unavailable = `the platform ${id} is not available`
  const refuse = () => Promise.reject(failed('unavailable', unavailable))
  const session: Session = {
    perform: refuse,
    probe: refuse,
    download: refuse,
    close: async () => undefined,
  }
  return {
    id,
    name: id,
    unavailable,
    linkMethods: [],
    capabilities: {
      operations: [],
      surfaces: [],
      content: [],
      buttons: false,
      entities: [],
      updates: [],
      limits: { textLength: 0 },
    },
    ids: 'integer',
    startLink: refuse,
    resumeLink: refuse,
    open(_, report) {
      report.lost('platform_unavailable', RETRY_SECONDS)
      return session
    },
  }
}
