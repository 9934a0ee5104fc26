/** DELETE /sandbox/network: empties the sandbox of the user who asks. */
import { setTimeout as pause } from 'node:timers/promises'
import { Type } from 'typebox'
import { answers, ok } from '../envelope.ts'
import { described, type SandboxRoutes } from './route.ts'

const Emptied = Type.Object({
  emptied: Type.Boolean({
    description: 'False: it goes on for a while, or somebody keeps writing; ask again',
  }),
})

/** A million messages take longer; it goes on if the answer does not wait for it. */
const EMPTY_MS = 30_000

export const networkRoutes: SandboxRoutes = async (app, { network }) => {
  app.delete(
    '/network',
    {
      schema: {
        ...described('Delete everybody and everything in your sandbox'),
        description:
          'Linked accounts of it are signed out and stay in the list as `logged_out`. There is no way back.',
        response: answers(Emptied),
      },
    },
    async (request) => {
      const late = pause(EMPTY_MS, false, { ref: false })
      const emptied = await Promise.race([network(request).empty(), late])
      return ok({ emptied })
    },
  )
}
