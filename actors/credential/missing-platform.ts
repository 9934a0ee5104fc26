/** Stands in for a platform that this build or configuration does not have: its accounts wait, and can be deleted. */
import type { Platform } from '../ports/platform.ts'
import { unavailablePlatform } from '../ports/unavailable.ts'

const RETRY_SECONDS = 300

export const missingPlatform = (id: string): Platform =>
  unavailablePlatform(
    {
      id,
      name: id,
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
    },
    {
      description: `the platform ${id} is not available`,
      lost: (report) => report.lost('platform_unavailable', RETRY_SECONDS),
    },
  )
