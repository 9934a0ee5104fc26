/** /sandbox: drives the built-in messenger as its people, and puts faults on them. */
import type { FastifyPluginAsync, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import { userOf } from '../management/owner.ts'
import { chatRoutes } from './chats.ts'
import { faultRoutes } from './faults.ts'
import { fileRoutes } from './files.ts'
import { handRoutes } from './hands.ts'
import { inboxRoutes } from './inbox.ts'
import { networkRoutes } from './network.ts'
import { opinionRoutes } from './opinions.ts'
import { peopleRoutes } from './people.ts'
import { stickerSetRoutes } from './sticker-sets.ts'
import { storyRoutes } from './stories.ts'
import { topicRoutes } from './topics.ts'
import { writingRoutes } from './writing.ts'

const all = [
  peopleRoutes,
  chatRoutes,
  topicRoutes,
  stickerSetRoutes,
  writingRoutes,
  handRoutes,
  opinionRoutes,
  inboxRoutes,
  storyRoutes,
  fileRoutes,
  faultRoutes,
  networkRoutes,
]

export interface SandboxRoutesOptions {
  readonly sandbox: Sandbox
  /** Lets in whoever may use the management API. */
  readonly authenticate: onRequestAsyncHookHandler
}

export const sandboxRoutes: FastifyPluginAsync<SandboxRoutesOptions> = async (
  app,
  { sandbox, authenticate },
) => {
  app.addHook('onRequest', authenticate)
  // Where every field may be left out, so may the body.
  app.addHook('preValidation', async (request) => {
    request.body ??= {}
  })
  const network = (request: FastifyRequest) => sandbox.network(userOf(request))
  for (const routes of all) {
    await app.register(routes, { network, prefix: '/sandbox' })
  }
}
