/** Reads and validates the environment once; no other file reads it. */

import { availableParallelism, hostname } from 'node:os'
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import type { OtpSenderOptions } from '../accounts/senders/sender.ts'
import type { Role } from '../accounts/staff.ts'
import type { CapacityLimits } from '../sandbox/network/capacity.ts'
import { proxiesFrom } from '../security/addresses.ts'
import { ConfigurationError, environmentFrom } from './environment.ts'
import { type Limits, limitsFrom, limitVariables } from './limits.ts'
import { type MediaSettings, mediaFrom, mediaVariables } from './media.ts'
import { type MailSettings, mailFrom, otpSenderFrom } from './sender.ts'

const Phones = Type.Optional(
  Type.String({
    pattern: '^\\+[1-9]\\d{4,14}(\\s*,\\s*\\+[1-9]\\d{4,14})*$',
    description: 'must be phones such as +14155550123, with commas between them',
  }),
)

const advice = 'with the special characters of its password percent-encoded'

/** The format of PostgreSQL's own programs: the host may be absent if a parameter names a socket. */
function databaseUrlFrom(url: string | undefined): string | undefined {
  if (url === undefined || URL.canParse(url.replace('@/', '@socket/'))) return url
  throw new ConfigurationError(
    `DATABASE_URL must be an address such as postgres://user:password@host:5432/name, ${advice}`,
  )
}

/** Refuses parts that the client would ignore, because it would then connect to another server. */
function redisUrlFrom(url: string | undefined): string | undefined {
  if (url === undefined) return undefined
  const parsed = URL.parse(url)
  if (parsed?.hostname && /^(\/\d*)?$/.test(parsed.pathname)) return url
  throw new ConfigurationError(
    `REDIS_URL must be an address such as redis://user:password@host:6379/0, ${advice}`,
  )
}

const Address = Type.Optional(
  Type.String({
    pattern: '^https?://[^?#@\\s]+$',
    description: 'must be an address such as https://api.example.org',
  }),
)

/** The addresses of the networks that speak the bot API, from the environment. */
const botApiVariables = {
  TELEGRAM_BOT_API_URL: Address,
  BALE_BOT_API_URL: Address,
  SOROUSH_BOT_API_URL: Address,
}

const BotApiVariables = Type.Object(botApiVariables)

interface BotApiAddress {
  readonly url: string
  /** An address that was chosen may be on this machine or its network. */
  readonly allowPrivate: boolean
}

interface BotApiSettings {
  readonly telegram: BotApiAddress
  readonly bale: BotApiAddress
  readonly soroush: BotApiAddress
}

const botApiFrom = (env: Static<typeof BotApiVariables>): BotApiSettings => ({
  telegram: addressOf(env.TELEGRAM_BOT_API_URL, 'https://api.telegram.org'),
  bale: addressOf(env.BALE_BOT_API_URL, 'https://tapi.bale.ai'),
  soroush: addressOf(env.SOROUSH_BOT_API_URL, 'https://api.splus.ir'),
})

const addressOf = (chosen: string | undefined, usual: string): BotApiAddress => ({
  url: (chosen ?? usual).replace(/\/+$/, ''),
  allowPrivate: chosen !== undefined,
})

/** How webhooks are delivered, as the environment has it. */
const webhookVariables = {
  /** Seconds for one whole attempt. */
  WEBHOOK_TIMEOUT: Type.Number({ minimum: 0.1, maximum: 60, default: 10 }),
  WEBHOOK_ALLOW_PRIVATE: Type.Optional(Type.Boolean()),
  WEBHOOK_LOG_RETENTION: Type.Integer({ minimum: 1, maximum: 3650, default: 30 }),
  /** Days that what went over the wire is kept. */
  LOG_BODIES: Type.Integer({ minimum: 0, maximum: 365, default: 3 }),
}

const WebhookVariables = Type.Object(webhookVariables)

interface WebhookSettings {
  readonly timeoutMs: number
  /** Allows plain http, any port and private addresses, to try a bot on this machine. */
  readonly allowPrivate: boolean
  readonly logDays: number
  /** One in so many first attempts that worked is logged. */
  readonly logSample: number
  /** Days that what went over the wire is kept; 0 for never. */
  readonly bodyDays: number
}

/** `isTrial`: the service is meant for one person on this machine. */
function webhooksFrom(
  env: Static<typeof WebhookVariables> & { readonly LOG_SAMPLE: number },
  isTrial: boolean,
): WebhookSettings {
  return {
    timeoutMs: Math.round(1000 * env.WEBHOOK_TIMEOUT),
    allowPrivate: env.WEBHOOK_ALLOW_PRIVATE ?? isTrial,
    logDays: env.WEBHOOK_LOG_RETENTION,
    logSample: env.LOG_SAMPLE,
    bodyDays: env.LOG_BODIES,
  }
}

const Url = Type.String({
  pattern: '^https?://[^/]+$',
  description: 'must be an address without a path, such as https://api.example.org',
})
const NodeAddress = Type.Optional(
  Type.String({
    pattern: '^https://[^/?#@\\s]+:\\d{1,5}$',
    description: 'must be an address with a port, such as https://10.0.0.5:9443',
  }),
)
const environments = ['production', 'development', 'test']
const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const Milliseconds = (standard: number) =>
  Type.Integer({ minimum: 10, maximum: 86_400_000, default: standard })

const Environment = Type.Object({
  // Another word, such as prod, would leave a service for others without what production demands.
  NODE_ENV: Type.Enum(environments, {
    default: 'development',
    description: `must be one of ${environments.join(', ')}`,
  }),
  HOST: Type.Optional(Type.String({ minLength: 1 })),
  PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080 }),
  BASE_URL: Type.Optional(Url),
  INTL_BASE_URL: Type.Optional(Url),
  PANEL_URL: Type.Optional(Url),
  INTL_PANEL_URL: Type.Optional(Url),
  DATA_DIR: Type.String({ minLength: 1, default: 'data' }),
  DATABASE_URL: Type.Optional(
    Type.String({ pattern: '^postgres(ql)?://', description: 'must begin with postgres://' }),
  ),
  REDIS_URL: Type.Optional(
    Type.String({ pattern: '^rediss?://', description: 'must begin with redis:// or rediss://' }),
  ),
  KEY_FILE: Type.Optional(Type.String({ minLength: 1 })),
  NODE_NAME: Type.String({ minLength: 1, default: hostname() }),
  CLUSTER_ADDRESS: NodeAddress,
  NODE_WEIGHT: Type.Integer({ minimum: 1, maximum: 1_000, default: availableParallelism() }),
  REBALANCE_SECONDS: Type.Number({ minimum: 0, maximum: 86_400, default: 30 }),
  NODES: Type.String({
    pattern: '^([1-9]|[1-5][0-9]|6[0-4]|auto)$',
    default: '1',
    description: 'must be a number from 1 to 64, or auto for one node on each core',
  }),
  CELL: Type.Integer({ minimum: 0, maximum: 8_999, default: 0 }),
  LOG_LEVEL: Type.Enum(levels, {
    default: 'info',
    description: `must be one of ${levels.join(', ')}`,
  }),
  METRICS_TOKEN: Type.Optional(Type.String({ minLength: 16 })),
  OPERATOR_TOKEN: Type.Optional(Type.String({ minLength: 16 })),
  METRICS_PORT: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
  TRUST_PROXY: Type.Optional(Type.String({ minLength: 1 })),
  SANDBOX: Type.Boolean({ default: true }),
  /** Limits for each user. */
  SANDBOX_PEOPLE: Type.Integer({ minimum: 1, maximum: 1e9, default: 1_000 }),
  SANDBOX_CHATS: Type.Integer({ minimum: 1, maximum: 1e9, default: 1_000 }),
  SANDBOX_MESSAGES: Type.Integer({ minimum: 1, maximum: 1e12, default: 1_000_000 }),
  TELEGRAM_API_ID: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })),
  TELEGRAM_API_HASH: Type.Optional(
    Type.String({ pattern: '^[0-9a-f]{32}$', description: 'must be 32 hexadecimal digits' }),
  ),
  UPDATE_RETENTION: Type.Integer({ minimum: 1, maximum: 365, default: 7 }),
  UPDATE_LIMIT: Type.Integer({ minimum: 10, maximum: 1e12, default: 1_000_000 }),
  /** Days that a bot can name a message by its number, on networks that have no numbers of their own. */
  MESSAGE_RETENTION: Type.Integer({ minimum: 1, maximum: 36_500, default: 365 }),
  REQUEST_LOG_RETENTION: Type.Integer({ minimum: 1, maximum: 3650, default: 30 }),
  /** One in so many successes is logged; every failure is. */
  LOG_SAMPLE: Type.Integer({ minimum: 1, maximum: 100_000, default: 1 }),
  DRAIN_SECONDS: Type.Number({ minimum: 0, maximum: 600, default: 5 }),
  START_BUDGET: Type.Integer({ minimum: 1, maximum: 10_000, default: 20 }),
  PROBE_INTERVAL_MS: Milliseconds(60_000),
  PROBE_RETRY_MS: Milliseconds(15_000),
  PROBE_TIMEOUT_MS: Milliseconds(10_000),
  PLATFORM_TIMEOUT_MS: Milliseconds(30_000),
  HOLD_MS: Type.Integer({ minimum: 0, maximum: 30_000, default: 5_000 }),
  PASSIVATE_AFTER_MS: Milliseconds(300_000),
  SEND_RATE: Type.Number({ exclusiveMinimum: 0, default: 30 }),
  SEND_BURST: Type.Integer({ minimum: 1, default: 60 }),
  CHAT_RATE: Type.Number({ exclusiveMinimum: 0, default: 1 }),
  CHAT_BURST: Type.Integer({ minimum: 1, default: 20 }),
  OPERATOR_PHONES: Phones,
  SUPPORT_PHONES: Phones,
  SMTP_FROM: Type.Optional(
    Type.String({
      pattern: '^[^\\r\\n]*[^\\s@]@[^\\s@]+$',
      description: 'must be an address such as Chapar <alerts@example.org>',
    }),
  ),
  ...limitVariables,
  ...webhookVariables,
  ...mediaVariables,
  ...botApiVariables,
})

export const variableNames = Object.keys(Environment.properties)

export interface Config {
  readonly production: boolean
  readonly host: string
  readonly port: number
  /** Home first, international second. */
  readonly baseUrls: readonly [string, string]
  readonly panelUrls: readonly [string, string]
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly redisUrl: string | undefined
  readonly keyFile: string
  readonly node: string
  /**
   * The address at which the other nodes reach this one, and on which it listens for them; absent: they cannot reach
   * it.
   */
  readonly clusterAddress: string | undefined
  /** Its share of the accounts, beside those of the other nodes. */
  readonly nodeWeight: number
  /** How long the nodes stay the same before accounts are moved to where they are placed. */
  readonly rebalanceAfterMs: number
  /** How many processes serve the port together. */
  readonly nodes: number
  /** Which range of ids this database gives out. */
  readonly cell: number
  readonly logLevel: string
  readonly metrics: { readonly token: string | undefined; readonly port: number | undefined }
  /** The token for orders to nodes; absent: there are no such routes over HTTP. */
  readonly operatorToken: string | undefined
  readonly trustProxy: string[] | false
  readonly sandbox: boolean
  readonly sandboxLimits: CapacityLimits
  /** The service's own registration with Telegram; absent: no accounts of Telegram. */
  readonly telegram: { readonly id: number; readonly hash: string } | undefined
  readonly retention: {
    readonly updateDays: number
    readonly updates: number
    /** Days that the numbers given to messages are kept; no shorter than updates are. */
    readonly messageDays: number
    readonly requestDays: number
    /** One in so many requests that worked is logged. */
    readonly requestSample: number
    /** Days that attempts at webhooks are listed. */
    readonly deliveryDays: number
    /** Days that what went over the wire is kept; 0 for never. */
    readonly bodyDays: number
  }
  /** How long it is open and not ready before it stops. */
  readonly drainMs: number
  readonly startBudget: number
  readonly timing: {
    readonly probeEvery: number
    readonly probeAgain: number
    readonly probeTakes: number
    readonly performTakes: number
    readonly signOutTakes: number
    readonly holdFor: number
    readonly passivateAfter: number
  }
  readonly rates: {
    readonly key: { readonly perSecond: number; readonly burst: number }
    readonly chat: { readonly perSecond: number; readonly burst: number }
  }
  readonly limits: Limits
  readonly webhooks: WebhookSettings
  readonly media: MediaSettings
  readonly botApi: BotApiSettings
  readonly otpSender: OtpSenderOptions
  /** The phones of the users who run the service, and of those who help its users. */
  readonly staffPhones: Readonly<Record<Role, readonly string[]>>
  /** For alerts by e-mail; undefined: none are sent. */
  readonly mail: MailSettings | undefined
}

/** Throws a `ConfigurationError`. */
export function readConfig(source: NodeJS.ProcessEnv = process.env): Config {
  const env = environmentFrom(Environment, source)
  const home = env.BASE_URL ?? `http://localhost:${env.PORT}`
  const panel = env.PANEL_URL ?? home
  const production = env.NODE_ENV === 'production'
  if (env.METRICS_PORT === env.PORT) {
    throw new ConfigurationError('METRICS_PORT must differ from PORT')
  }
  const telling = tellingFrom(env, source, production)
  // A service that prints its codes is open to everybody who can reach it.
  const isForOthers = production || telling.otpSender.kind !== 'console'
  const isTrial = env.DATABASE_URL === undefined && !production
  return {
    production,
    host: env.HOST ?? (isForOthers ? '0.0.0.0' : '127.0.0.1'),
    port: env.PORT,
    baseUrls: [home, env.INTL_BASE_URL ?? home],
    panelUrls: [panel, env.INTL_PANEL_URL ?? panel],
    dataDir: env.DATA_DIR,
    databaseUrl: databaseUrlFrom(env.DATABASE_URL),
    redisUrl: redisUrlFrom(env.REDIS_URL),
    keyFile: env.KEY_FILE ?? join(env.DATA_DIR, 'keys'),
    ...nodeFrom(env),
    logLevel: env.LOG_LEVEL,
    metrics: { token: env.METRICS_TOKEN, port: env.METRICS_PORT },
    operatorToken: env.OPERATOR_TOKEN,
    trustProxy: env.TRUST_PROXY !== undefined && proxiesFrom(env.TRUST_PROXY),
    sandbox: env.SANDBOX,
    sandboxLimits: sandboxLimitsFrom(env),
    telegram: telegramFrom(env.TELEGRAM_API_ID, env.TELEGRAM_API_HASH),
    retention: retentionFrom(env),
    drainMs: 1000 * env.DRAIN_SECONDS,
    startBudget: env.START_BUDGET,
    timing: {
      probeEvery: env.PROBE_INTERVAL_MS,
      probeAgain: env.PROBE_RETRY_MS,
      probeTakes: env.PROBE_TIMEOUT_MS,
      performTakes: env.PLATFORM_TIMEOUT_MS,
      signOutTakes: 10_000,
      holdFor: env.HOLD_MS,
      passivateAfter: env.PASSIVATE_AFTER_MS,
    },
    rates: {
      key: { perSecond: env.SEND_RATE, burst: env.SEND_BURST },
      chat: { perSecond: env.CHAT_RATE, burst: env.CHAT_BURST },
    },
    limits: limitsFrom(env),
    webhooks: webhooksFrom(env, isTrial),
    media: mediaFrom(env, isTrial, source.PATH),
    botApi: botApiFrom(env),
    ...telling,
  }
}

const retentionFrom = (env: Static<typeof Environment>): Config['retention'] => ({
  updateDays: env.UPDATE_RETENTION,
  updates: env.UPDATE_LIMIT,
  messageDays: Math.max(env.MESSAGE_RETENTION, env.UPDATE_RETENTION),
  requestDays: env.REQUEST_LOG_RETENTION,
  requestSample: env.LOG_SAMPLE,
  deliveryDays: env.WEBHOOK_LOG_RETENTION,
  bodyDays: env.LOG_BODIES,
})

const phonesOf = (list: string | undefined): string[] =>
  list?.split(',').map((phone) => phone.trim()) ?? []

/** The senders of codes and alerts, and the recipients of alerts about the service itself. */
const tellingFrom = (
  env: Static<typeof Environment>,
  source: NodeJS.ProcessEnv,
  production: boolean,
): Pick<Config, 'otpSender' | 'staffPhones' | 'mail'> => ({
  otpSender: otpSenderFrom(source, production),
  staffPhones: {
    operator: phonesOf(env.OPERATOR_PHONES),
    support: phonesOf(env.SUPPORT_PHONES),
  },
  mail: mailFrom(source),
})

const nodeFrom = (
  env: Static<typeof Environment>,
): Pick<
  Config,
  'node' | 'clusterAddress' | 'nodeWeight' | 'rebalanceAfterMs' | 'nodes' | 'cell'
> => ({
  node: env.NODE_NAME,
  clusterAddress: env.CLUSTER_ADDRESS,
  nodeWeight: env.NODE_WEIGHT,
  rebalanceAfterMs: 1000 * env.REBALANCE_SECONDS,
  nodes: env.NODES === 'auto' ? availableParallelism() : Number(env.NODES),
  cell: env.CELL,
})

/** Refuses half a registration, because Telegram accounts could then not be linked, without any error. */
function telegramFrom(id: number | undefined, hash: string | undefined): Config['telegram'] {
  if (id === undefined && hash === undefined) return undefined
  if (id === undefined) throw new ConfigurationError('TELEGRAM_API_ID must be set with its hash')
  if (hash === undefined) throw new ConfigurationError('TELEGRAM_API_HASH must be set with its id')
  return { id, hash }
}

const sandboxLimitsFrom = (env: Static<typeof Environment>): Config['sandboxLimits'] => ({
  people: env.SANDBOX_PEOPLE,
  chats: env.SANDBOX_CHATS,
  messages: env.SANDBOX_MESSAGES,
})
