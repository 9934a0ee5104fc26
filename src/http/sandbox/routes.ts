/** All routes under /sandbox: they drive the built-in messenger as its people and put faults on them. */
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyPluginAsync, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { Type } from 'typebox'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import { answers, ok } from '../envelope.ts'
import { forUsers, userOf } from '../management/owner.ts'
import {
  checklistRoutes,
  draftRoutes,
  messageRoutes,
  pollRoutes,
  reactionRoutes,
  readingRoutes,
  suggestionRoutes,
  typingAndPressRoutes,
} from './actions.ts'
import {
  administrationRoutes,
  audioRoutes,
  boostRoutes,
  emojiStatusRoutes,
  photoRoutes,
  slowModeRoutes,
} from './administration.ts'
import { joinAnswerRoutes, joinQueryRoutes, managedBotRoutes, passportRoutes } from './bot-tasks.ts'
import { businessRoutes, giftRoutes, ownedGiftRoutes } from './business.ts'
import {
  chatRoutes,
  communityChatRoutes,
  communityRoutes,
  joinRoutes,
  memberRoutes,
  ownCommunityRoutes,
} from './chats.ts'
import { faultClearingRoutes, faultRoutes } from './faults.ts'
import { fileRoutes, stickerSetRoutes } from './files.ts'
import { inboxRoutes, storyRoutes } from './inbox.ts'
import { inlineChoiceRoutes, inlineRoutes } from './inline.ts'
import { paymentRoutes, subscriptionRoutes } from './payments.ts'
import { peopleRoutes, personRoutes } from './people.ts'
import { described, type SandboxRoutes } from './route.ts'
import { topicChangeRoutes, topicRoutes } from './topics.ts'
import { sharingRoutes, writingRoutes } from './writing.ts'

const Emptied = Type.Object({
  emptied: Type.Boolean({
    description: 'False: it goes on for a while, or somebody keeps writing; ask again',
  }),
})

/** Emptying a network of a million messages takes longer than this: it continues after the answer. */
const EMPTY_MS = 30_000

const networkRoutes: SandboxRoutes = async (app, { network }) => {
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

const ROUTES = [
  peopleRoutes,
  personRoutes,
  chatRoutes,
  memberRoutes,
  joinRoutes,
  communityRoutes,
  ownCommunityRoutes,
  communityChatRoutes,
  joinQueryRoutes,
  joinAnswerRoutes,
  managedBotRoutes,
  passportRoutes,
  topicRoutes,
  topicChangeRoutes,
  photoRoutes,
  audioRoutes,
  administrationRoutes,
  boostRoutes,
  slowModeRoutes,
  emojiStatusRoutes,
  businessRoutes,
  giftRoutes,
  ownedGiftRoutes,
  stickerSetRoutes,
  writingRoutes,
  messageRoutes,
  typingAndPressRoutes,
  draftRoutes,
  reactionRoutes,
  pollRoutes,
  checklistRoutes,
  suggestionRoutes,
  readingRoutes,
  sharingRoutes,
  paymentRoutes,
  subscriptionRoutes,
  inlineRoutes,
  inlineChoiceRoutes,
  inboxRoutes,
  storyRoutes,
  fileRoutes,
  faultRoutes,
  faultClearingRoutes,
  networkRoutes,
]

interface SandboxRoutesOptions {
  readonly sandbox: Sandbox
  /** Admits users of the management API. */
  readonly authenticate: onRequestAsyncHookHandler
}

export const sandboxRoutes: FastifyPluginAsync<SandboxRoutesOptions> = async (
  app,
  { sandbox, authenticate },
) => {
  forUsers(app, authenticate, 'send')
  // Every field of some bodies is optional: then the body is optional, too.
  app.addHook('preValidation', async (request) => {
    request.body ??= {}
  })
  const network = (request: FastifyRequest) => sandbox.network(userOf(request))
  const allRoutes: SandboxRoutes = async (scope, options) => {
    // Called, not registered: Fastify would make a scope for each, which would take most of a start.
    for (const routes of ROUTES) await routes(scope, options)
  }
  await app.register(allRoutes, { network, prefix: '/sandbox' })
}
