/** Limits that all nodes count together, in Redis. While it is away each node lets its share through. Loaded only with Redis. */
import { RateLimiterRedis, RateLimiterRes, RLWrapperTimeouts } from 'rate-limiter-flexible'
import type { RedisConnection } from '../jobs/backend.ts'
import { boundedWarnings } from '../observability/bounded.ts'
import type { Logger } from '../observability/logger.ts'
import type {
  CallCount,
  Gcra,
  GuessCount,
  Guesses,
  GuessLimits,
  RateLimit,
} from '../security/rate-limits.ts'

const ANSWERS_WITHIN_MS = 50
/** A server that does not answer is not waited for again until then. */
const AGAIN_MS = 1_000

/** As `Gcra` counts: the key holds the time, in milliseconds, at which nothing is used up. By the clock of Redis. */
const TAKE = `
  local interval, tolerance, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  local time = redis.call('time')
  local now = time[1] * 1000 + time[2] / 1000
  local due = tonumber(redis.call('get', KEYS[1]) or now)
  if due < now or due > now + 2 * tolerance + interval then due = now end
  local wait = due + interval - now - tolerance
  if wait > 0 then return { most + 1, math.ceil(wait) } end
  due = due + interval
  redis.call('set', KEYS[1], string.format('%.3f', due), 'px', math.ceil(due - now))
  return { math.ceil((due - now) / interval), math.ceil(due - now) }`

/** As `Guesses` counts: within a minute and within an hour, each from the first guess on. */
const GUESS = `
  local wait = 0
  for window = 1, 2 do
    local most, length = tonumber(ARGV[2 * window - 1]), tonumber(ARGV[2 * window])
    local count = redis.call('incr', KEYS[window])
    local left = redis.call('pttl', KEYS[window])
    if left < 0 then
      left = length
      redis.call('pexpire', KEYS[window], length)
    end
    if count > most and left > wait then wait = left end
  end
  if wait > 0 then return { ARGV[1] + 1, wait } end
  return { 1, tonumber(ARGV[2]) }`

interface SharedOptions {
  readonly redis: RedisConnection
  readonly logger: Pick<Logger, 'warn'>
  /** How many nodes there are, this one included. */
  count(): number
}

interface Limit {
  readonly name: string
  readonly points: number
  readonly seconds: number
  /** One command, which answers with what is used up, and with the milliseconds to wait. */
  ask(key: string): Promise<unknown>
}

/** The package's own insurance remembers every key until its time is over; ours is bounded. */
class Shared<Key extends string | number> {
  readonly #limiter: RLWrapperTimeouts
  readonly #alone: (key: Key) => number
  readonly #warn: ReturnType<typeof boundedWarnings>
  #awayUntil = 0

  constructor({ redis, logger }: SharedOptions, limit: Limit, alone: (key: Key) => number) {
    this.#alone = alone
    this.#warn = boundedWarnings(logger)
    // All that the package asks of a client. Its own command has one name for all scripts of a connection.
    const storeClient = {
      get status() {
        return redis.status
      },
      rlflxIncr: ([key = '']: readonly string[]) => limit.ask(key),
    }
    this.#limiter = new RLWrapperTimeouts({
      limiter: new RateLimiterRedis({
        storeClient,
        keyPrefix: `chapar:${limit.name}`,
        points: limit.points,
        duration: limit.seconds,
        rejectIfRedisNotReady: true,
      }),
      timeoutMs: ANSWERS_WITHIN_MS,
    })
  }

  /** Counts one; resolves with 0, or with the seconds to wait. */
  async count(key: Key): Promise<number> {
    if (performance.now() < this.#awayUntil) return this.#alone(key)
    try {
      await this.#limiter.consume(key)
      return 0
    } catch (cause) {
      if (cause instanceof RateLimiterRes) return Math.ceil(cause.msBeforeNext / 1_000)
      this.#awayUntil = performance.now() + AGAIN_MS
      this.#warn({ err: cause }, 'Redis is away: this node counts limits alone')
      return this.#alone(key)
    }
  }
}

export function shareCalls(
  options: SharedOptions,
  { perSecond, burst }: RateLimit,
  alone: Gcra<number>,
): CallCount {
  const [interval, tolerance] = [1_000 / perSecond, (1_000 * burst) / perSecond]
  const shared = new Shared<number>(
    options,
    {
      name: 'calls',
      points: burst,
      seconds: Math.ceil(burst / perSecond),
      ask: (key) => options.redis.eval(TAKE, 1, key, interval, tolerance, burst),
    },
    // Each of n nodes admits an n-th of the limit.
    (userId) => alone.take(userId, options.count()),
  )
  return { take: (userId) => shared.count(userId) }
}

const MINUTE_SECONDS = 60
const HOUR_SECONDS = 3_600

export function shareGuesses(
  options: SharedOptions,
  { perMinute, perHour }: GuessLimits,
  alone: Guesses,
): GuessCount {
  const [minute, hour] = [1_000 * MINUTE_SECONDS, 1_000 * HOUR_SECONDS]
  const shared = new Shared<string>(
    options,
    {
      name: 'wrong-keys',
      points: perMinute,
      seconds: MINUTE_SECONDS,
      ask: (key) =>
        options.redis.eval(GUESS, 2, key, `${key}:hour`, perMinute, minute, perHour, hour),
    },
    (network) => alone.add(network, options.count()),
  )
  return { add: (network) => shared.count(network) }
}
