/** The messengers that can be linked; linking an account: start, list, verify, look, send again, cancel. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Platform } from '../../../actors/ports/platform.ts'
import type { Platforms } from '../../../actors/ports/ports.ts'
import type { ShownStep } from '../../../machines/link/events.ts'
import { failed, invalidField, missingField, readBack } from '../../../machines/model/failure.ts'
import { canDo } from '../../bot-api/method.ts'
import { methods } from '../../bot-api/methods/index.ts'
import { findCredential, type RecordSource } from '../../credentials/records.ts'
import type { LinkFlow, LinkFlows } from '../../links/flows.ts'
import type { OpenLink } from '../../links/store.ts'
import type { CredentialRecord } from '../../records/credential.ts'
import { LinkRecord, OpenLinkRecord, PlatformRecord } from '../../records/link.ts'
import { carriedOut, changesNothing, describeChange, noteUnnoted } from '../changes.ts'
import { answers, ok, PageOf, PageQuery } from '../envelope.ts'
import { shown } from '../validation.ts'
import { type Authenticated, forUsers, userOf } from './owner.ts'
import { pageOf } from './page.ts'

/** The states of a flow that has ended. */
const over = ['expired', 'cancelled', 'failed']

const seconds = (until: number, now: number) => Math.max(0, Math.ceil((until - now) / 1000))

export function linkRecord(
  { link, actor, mayAskPassword }: LinkFlow,
  now: number,
  credential: CredentialRecord | undefined,
) {
  const { value, context } = actor.snapshot
  const { step, reason } = context
  const state = stateOf(value)
  const isOpen = state === step?.state
  return {
    session_id: link.sessionId,
    platform: link.platform,
    state,
    method: link.method,
    step: isOpen ? placeOf(step, mayAskPassword) : null,
    ...(isOpen && step.phone !== undefined && { phone: step.phone }),
    ...(isOpen && step.jid !== undefined && { jid: step.jid }),
    expires_in: seconds(link.expiresAt, now),
    code_expires_in:
      isOpen && step.codeUntil !== undefined
        ? seconds(Math.min(step.codeUntil, link.expiresAt), now)
        : null,
    attempts_left: over.includes(state) ? 0 : context.attemptsLeft,
    resend_in: isOpen && step.resendAt !== undefined ? seconds(step.resendAt, now) : null,
    ...(isOpen && step.sentVia !== undefined && { sent_via: step.sentVia }),
    ...(isOpen &&
      step.way && { sent_via_code: { code: step.way.code, params: { ...step.way.params } } }),
    code_length: (isOpen ? step.codeLength : undefined) ?? null,
    password_hint: (isOpen ? step.passwordHint : undefined) ?? null,
    ...(isOpen &&
      step.show && {
        show: {
          form: step.show.form,
          value: step.show.value,
          expires_in: seconds(step.show.until, now),
        },
      }),
    ...(reason !== undefined && { reason }),
    credential: credential ?? null,
  }
}

/** The start is the first step, a code or an act elsewhere the second, a password the last. */
const placeOf = ({ state }: ShownStep, mayAskPassword: boolean) =>
  state === 'password_needed'
    ? { number: 3, of: 3, password_may_follow: false }
    : { number: 2, of: 2, password_may_follow: mayAskPassword }

/** While an answer is being checked, the step that asked for it is still shown. */
function stateOf(value: unknown): string {
  if (typeof value === 'string') return value
  const open = (value as { open: string }).open
  if (open === 'checking_code') return 'code_sent'
  return open === 'checking_password' ? 'password_needed' : open
}

const PlatformParams = Type.Object({ platform: Type.String({ maxLength: 64 }) })
const SessionParams = Type.Object({
  platform: Type.String({ maxLength: 64 }),
  session_id: Type.String({ maxLength: 64 }),
})
const StartBody = Type.Object(
  {
    method: Type.Optional(Type.String({ maxLength: 64 })),
    credential_id: Type.Optional(Type.Integer({ minimum: 1 })),
    phone: Type.Optional(
      Type.String({ maxLength: 4096, description: 'Where accounts link by it' }),
    ),
  },
  {
    additionalProperties: Type.String({ maxLength: 4096 }),
    description:
      'Beside these the fields that the method names, each a text of up to 4096 characters',
  },
)
const VerifyBody = Type.Object(
  {
    session_id: Type.String({ minLength: 1, maxLength: 64 }),
    otp: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  },
  { additionalProperties: false },
)

interface LinkRoutesOptions extends Authenticated {
  readonly links: LinkFlows
  readonly source: RecordSource
  now(): number
}

const tags = ['linking']
const response = answers(LinkRecord)

type Routes = FastifyPluginAsyncTypebox<LinkRoutesOptions>

const startRoute: Routes = async (app, options) => {
  app.post(
    '/platforms/:platform/link/start',
    {
      schema: {
        tags,
        summary: 'Starts linking',
        description: 'Takes the fields that GET /platforms names for a method of the platform.',
        params: PlatformParams,
        body: StartBody,
        response,
      },
    },
    async (request) => {
      const { method, credential_id, ...fields } = request.body
      const platform = options.links.platform(request.params.platform)
      const userId = userOf(request)
      if (credential_id !== undefined) await checkAccount(options, userId, credential_id, platform)
      const flow = await options.links.start({
        userId,
        platform: platform.id,
        method: chosen(platform, method, fields),
        fields: fields as Record<string, string>,
        relinks: credential_id,
      })
      const { sessionId, method: way } = flow.link
      describeChange(request, {
        target: ['link', sessionId],
        after: { platform: platform.id, method: way, credential_id },
      })
      await noteUnnoted(request)
      return ok(await readBack(recordOf(options, flow)))
    },
  )
}

const openRoute: Routes = async (app, options) => {
  app.get(
    '/platforms/links',
    {
      schema: {
        tags,
        summary: 'Links that wait for an answer, newest first',
        querystring: PageQuery,
        response: answers(PageOf(OpenLinkRecord)),
      },
    },
    async (request) => {
      const { limit, before } = request.query
      const page = { limit: limit + 1, before: before === undefined ? before : openBefore(before) }
      const found = await options.links.open(userOf(request), page)
      const { items, next_before } = pageOf(
        found,
        limit,
        ({ expiresAt, sessionId }) => `${expiresAt}-${sessionId}`,
      )
      return ok({ items: items.map((link) => openRecord(link, options.now())), next_before })
    },
  )
}

function openBefore(cursor: string) {
  const [, at, sessionId] = /^(\d{1,15})-([\w-]{22})$/.exec(cursor) ?? []
  if (!at || !sessionId) throw invalidField('before', 'is not a cursor of this list')
  return { expiresAt: Number(at), sessionId }
}

const openRecord = (link: OpenLink, now: number) => ({
  session_id: link.sessionId,
  platform: link.platform,
  method: link.method,
  state: link.state,
  credential_id: link.relinks ?? null,
  ...(link.phone !== undefined && { phone: link.phone }),
  ...(link.jid !== undefined && { jid: link.jid }),
  expires_in: seconds(link.expiresAt, now),
})

const verifyRoute: Routes = async (app, options) => {
  app.post(
    '/platforms/:platform/link/verify',
    {
      schema: {
        tags,
        summary: 'Gives the code or the password',
        params: PlatformParams,
        body: VerifyBody,
        response,
      },
    },
    async (request) => {
      const { session_id, ...answer } = request.body
      const flow = await flowOf(options, request.params.platform, session_id, userOf(request))
      describeChange(request, { target: ['link', session_id] })
      await giveAnswer(request, flow, answer)
      // The flow may be over now, and then takes no answer again.
      return ok(await readBack(recordOf(options, flow)))
    },
  )
}

interface Answer {
  readonly otp?: string
  readonly password?: string
}

/** It changes nothing where the account is linked: a caller that has lost what it was told gives its answer again. */
export async function giveAnswer(
  request: FastifyRequest,
  { actor }: LinkFlow,
  { otp, password }: Answer,
): Promise<void> {
  if (otp === undefined && password === undefined) throw missingField('otp')
  if (actor.snapshot.value === 'linked') changesNothing(request)
  const given = otp !== undefined ? { code: otp } : { password: password ?? '' }
  await carriedOut(request, actor.ask({ type: 'link.verify', ...given }))
}

const stateRoute: Routes = async (app, options) => {
  app.get(
    '/platforms/:platform/link/:session_id',
    { schema: { tags, summary: 'The state of the flow', params: SessionParams, response } },
    async (request) => {
      const { platform, session_id } = request.params
      return ok(
        await recordOf(options, await flowOf(options, platform, session_id, userOf(request))),
      )
    },
  )
}

const resendAndCancelRoutes: Routes = async (app, options) => {
  app.post(
    '/platforms/:platform/link/:session_id/resend',
    { schema: { tags, summary: 'Sends a new code', params: SessionParams, response } },
    async (request) => {
      const { platform, session_id } = request.params
      const flow = await flowOf(options, platform, session_id, userOf(request))
      await carriedOut(request, flow.actor.ask({ type: 'link.resend', now: options.now() }))
      return ok(await readBack(recordOf(options, flow)))
    },
  )

  app.delete(
    '/platforms/:platform/link/:session_id',
    { schema: { tags, summary: 'Cancels the flow', params: SessionParams, response } },
    async (request) => {
      const { platform, session_id } = request.params
      const flow = await flowOf(options, platform, session_id, userOf(request))
      await carriedOut(request, flow.actor.ask({ type: 'link.cancel' }))
      return ok(await recordOf(options, flow))
    },
  )
}

export const linkRoutes: Routes = async (app, options) => {
  forUsers(app, options.authenticate, 'link')
  for (const routes of [startRoute, openRoute, verifyRoute, stateRoute, resendAndCancelRoutes]) {
    await routes(app, options)
  }
}

/** An account of another platform is refused here: the last step would refuse it anyway. */
async function checkAccount(
  { source }: LinkRoutesOptions,
  userId: number,
  credentialId: number,
  { id }: Platform,
): Promise<void> {
  const { platform } = await findCredential(source, userId, credentialId)
  if (platform !== id) throw invalidField('credential_id', 'is an account of another platform')
}

async function flowOf(
  { links }: LinkRoutesOptions,
  platform: string,
  sessionId: string,
  userId: number,
): Promise<LinkFlow> {
  if (!/^[\w-]{22}$/.test(sessionId)) throw failed('not_found')
  const flow = await links.find(sessionId, userId)
  if (flow.link.platform !== platform) throw failed('not_found')
  return flow
}

async function recordOf({ source, now }: LinkRoutesOptions, flow: LinkFlow) {
  const { credentialId } = flow.actor.snapshot.context
  const { userId } = flow.link
  const credential =
    credentialId === undefined ? undefined : await findCredential(source, userId, credentialId)
  return linkRecord(flow, now(), credential)
}

/** The named method, or the one that takes the given fields. */
function chosen(platform: Platform, named: string | undefined, fields: object): string {
  const methods = platform.linkMethods
  const method =
    named === undefined
      ? methods.find(({ fields: wanted }) =>
          wanted.every(({ name, required }) => !required || name in fields),
        )
      : methods.find((candidate) => candidate.method === named)
  if (method) {
    const missing = method.fields.find(({ name, required }) => required && !(name in fields))
    if (missing) throw missingField(missing.name)
    const unknown = Object.keys(fields).find((name) => !method.fields.some((f) => f.name === name))
    if (unknown !== undefined) throw invalidField(shown(unknown), 'is unknown')
    return method.method
  }
  if (named !== undefined) throw invalidField('method', 'is no way to link this platform')
  const first = methods[0]?.fields.find(({ name, required }) => required && !(name in fields))
  throw missingField(first?.name ?? 'method')
}

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
    async () => ok([...platforms.values()].map(platformRecord)),
  )
}

const platformRecord = (platform: Platform) => {
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
