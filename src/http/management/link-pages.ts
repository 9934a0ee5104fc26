/** Makes the page on which an account's owner, who has no access here, answers one link flow. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { failed } from '../../../machines/model/failure.ts'
import type { LinkFlows } from '../../links/flows.ts'
import type { LinkPages } from '../../links/pages.ts'
import { answers, ok } from '../envelope.ts'
import { type Authenticated, forUsers, userOf } from './owner.ts'

const Params = Type.Object({
  platform: Type.String({ maxLength: 64 }),
  session_id: Type.String({ maxLength: 64 }),
})

const NewPage = Type.Object({
  url: Type.String({ description: 'To be sent to the owner of the account' }),
  token: Type.String({ description: 'Shown only here; an earlier one opens nothing any more' }),
  expires_at: Type.String({ format: 'date-time' }),
  expires_in: Type.Integer(),
})

interface LinkPageRoutesOptions extends Authenticated {
  readonly links: LinkFlows
  readonly pages: LinkPages
  /** In the same order: where the API and where the panel are reached. */
  readonly addresses: readonly string[]
  readonly panels: readonly string[]
  now(): number
}

export const linkPageRoutes: FastifyPluginAsyncTypebox<LinkPageRoutesOptions> = async (
  app,
  { links, pages, addresses, panels, now, authenticate },
) => {
  forUsers(app, authenticate)

  app.post(
    '/platforms/:platform/link/:session_id/page',
    {
      schema: {
        tags: ['linking'],
        summary: 'Makes a page on which the owner of the account enters the code',
        params: Params,
        response: answers(NewPage),
      },
    },
    async (request) => {
      const { platform, session_id } = request.params
      if (!/^[\w-]{22}$/.test(session_id)) throw failed('not_found')
      const { link, actor } = await links.find(session_id, userOf(request))
      if (link.platform !== platform) throw failed('not_found')
      if (typeof actor.snapshot.value === 'string')
        throw failed('conflict', 'the link flow is over')
      const token = await pages.create(session_id)
      const expires_at = new Date(link.expiresAt).toISOString()
      const expires_in = Math.max(0, Math.ceil((link.expiresAt - now()) / 1000))
      return ok({ url: `${panelFor(request.host)}/link/${token}`, token, expires_at, expires_in })
    },
  )

  const panelFor = (host: string) =>
    panels[addresses.findIndex((address) => new URL(address).host === host)] ?? panels[0]
}
