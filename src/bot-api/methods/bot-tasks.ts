/** Methods of bots with a task of their own: join queries, personal channels, bots that they manage, and passports. */
import { badRequest } from '../../../machines/model/failure.ts'
import { JOIN_DECISIONS, type JoinDecision } from '../../../machines/model/operation-bots.ts'
import type { Arguments } from '../arguments.ts'
import { type Method, result } from '../method.ts'
import { passportErrorsOf } from '../passport-errors.ts'

const MOST_PERSONAL = 20

function decisionOf(args: Arguments): JoinDecision {
  const decision = JOIN_DECISIONS.find((known) => known === args.text('result'))
  if (!decision) throw badRequest('invalid result specified')
  return decision
}

function queryOf(args: Arguments): string {
  const query = args.text('chat_join_request_query_id')
  if (query === undefined) throw badRequest('query ID is not specified')
  return query
}

const managing = { user_id: 'integer' } as const

function addedOf(args: Arguments): readonly number[] {
  const added = args.json('added_user_ids') ?? []
  const areIds = Array.isArray(added) && added.every((id) => Number.isSafeInteger(id) && id > 0)
  if (!areIds) throw badRequest('wrong added_user_ids specified')
  return added
}

const tokenMethod = (name: string, summary: string, isReplaced: boolean): Method => ({
  name,
  summary,
  scope: 'bot:send',
  operation: 'managed_bot_token',
  parameters: managing,
  required: ['user_id'],
  run: async ({ args, perform }) =>
    result(await perform({ kind: 'managed_bot_token', person: args.userId(), isReplaced })),
})

export const botTaskMethods: readonly Method[] = [
  {
    name: 'answerChatJoinRequestQuery',
    summary: 'Answers somebody who asks to join a chat whose requests the bot answers',
    scope: 'bot:send',
    operation: 'answer_join_query',
    parameters: { chat_join_request_query_id: 'string', result: 'string' },
    required: ['chat_join_request_query_id', 'result'],
    run: async ({ args, perform }) => {
      const [query, decision] = [queryOf(args), decisionOf(args)]
      return result(await perform({ kind: 'answer_join_query', query, decision }))
    },
  },
  {
    name: 'sendChatJoinRequestWebApp',
    summary: 'Shows a web app to somebody who asks to join',
    scope: 'bot:send',
    operation: 'show_join_app',
    parameters: { chat_join_request_query_id: 'string', web_app_url: 'string' },
    required: ['chat_join_request_query_id', 'web_app_url'],
    run: async ({ args, perform }) => {
      const [query, url] = [queryOf(args), args.text('web_app_url') ?? '']
      return result(await perform({ kind: 'show_join_app', query, url }))
    },
  },
  {
    name: 'getUserPersonalChatMessages',
    summary: "The newest messages of the channel in a person's profile",
    scope: 'bot:receive',
    operation: 'personal_messages',
    parameters: { user_id: 'integer', limit: 'integer' },
    required: ['user_id', 'limit'],
    run: async ({ args, perform }) => {
      const person = args.userId()
      const limit = args.integer('limit', { min: 0, max: MOST_PERSONAL + 1 })
      if (limit < 1) throw badRequest('limit must be positive')
      if (limit > MOST_PERSONAL) throw badRequest('limit must be between 1 and 20')
      return result(await perform({ kind: 'personal_messages', person, limit }))
    },
  },
  tokenMethod('getManagedBotToken', 'The token of a bot that the account manages', false),
  tokenMethod('replaceManagedBotToken', 'Gives a bot that the account manages a new token', true),
  {
    name: 'getManagedBotAccessSettings',
    summary: 'Who may write to a bot that the account manages',
    scope: 'bot:receive',
    operation: 'managed_bot_access',
    parameters: managing,
    required: ['user_id'],
    run: async ({ args, perform }) =>
      result(await perform({ kind: 'managed_bot_access', person: args.userId() })),
  },
  {
    name: 'setManagedBotAccessSettings',
    summary: 'Sets who may write to a bot that the account manages',
    scope: 'bot:send',
    operation: 'set_managed_bot_access',
    parameters: { ...managing, is_access_restricted: 'boolean', added_user_ids: 'json' },
    required: ['user_id', 'is_access_restricted'],
    run: async ({ args, perform }) => {
      const [person, isRestricted] = [args.userId(), args.boolean('is_access_restricted')]
      const added = isRestricted ? addedOf(args) : []
      return result(await perform({ kind: 'set_managed_bot_access', person, isRestricted, added }))
    },
  },
  {
    name: 'setPassportDataErrors',
    summary: 'Tells a person of mistakes in their passport',
    scope: 'bot:send',
    operation: 'passport_errors',
    parameters: { user_id: 'integer', errors: 'json' },
    required: ['user_id', 'errors'],
    run: async ({ args, perform }) => {
      const [person, errors] = [args.userId(), passportErrorsOf(args)]
      return result(await perform({ kind: 'passport_errors', person, errors }))
    },
  },
]
