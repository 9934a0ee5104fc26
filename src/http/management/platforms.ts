/** GET /platforms: the messengers, their ways of linking, and their abilities. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Platform } from '../../../actors/ports/platform.ts'
import type { Platforms } from '../../../actors/ports/ports.ts'
import { canDo } from '../../bot-api/method.ts'
import { methods } from '../../bot-api/methods/index.ts'
import { PlatformRecord } from '../../records/link.ts'
import { answers, ok } from '../envelope.ts'
import { type Authenticated, forUsers } from './owner.ts'

/** The limit of the bot API itself, in code points. */
const TEXT_LENGTH = 4_096

interface PlatformRoutesOptions extends Authenticated {
  readonly platforms: Platforms
}

export const platformRoutes: FastifyPluginAsyncTypebox<PlatformRoutesOptions> = async (
  app,
  { platforms, authenticate },
) => {
  forUsers(app, authenticate)
  app.get(
    '/platforms',
    {
      schema: {
        tags: ['platforms'],
        summary: 'Messengers that can be linked',
        response: answers(Type.Array(PlatformRecord)),
      },
    },
    async () => ok([...platforms.values()].map(recordOf)),
  )
}

const recordOf = (platform: Platform) => {
  const { id, name, unavailable, linkMethods, capabilities } = platform
  return {
    platform: id,
    name,
    available: unavailable === undefined,
    ...(unavailable !== undefined && { unavailable_reason: unavailable }),
    link: linkMethods.map(({ method, fields }) => ({
      method,
      fields: fields.map((field) => ({ ...field, secret: field.secret ?? false })),
    })),
    capabilities: {
      methods: [...methods.values()]
        .filter((method) => canDo(platform, method))
        .map(({ name: method }) => method),
      parse_modes: capabilities.entities.length > 0 ? ['HTML', 'MarkdownV2', 'Markdown'] : [],
      update_types: [...capabilities.updates],
      inline_keyboards: capabilities.buttons,
      reply_keyboards: capabilities.replyKeyboards ?? false,
      limits: Object.fromEntries(
        Object.entries({
          ...capabilities.limits,
          textLength: Math.min(TEXT_LENGTH, capabilities.limits.textLength),
        }).map(([limit, value]) => [snake(limit), value]),
      ),
    },
  }
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
