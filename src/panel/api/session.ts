/** The user who is signed in. The access token lives in memory alone; the refresh token in a cookie that no script reads. */
import { ApiFailure, ask, posting } from './failure.ts'
import type { User } from './types.ts'

interface Opened {
  readonly access_token: string
  readonly expires_in: number
  readonly user: User
  readonly base_url: string
  readonly version: string
}

type Session =
  | { readonly state: 'starting' }
  | { readonly state: 'out' }
  | { readonly state: 'unreachable' }
  /** The service knows who this is, and refuses them everything. */
  | { readonly state: 'refused'; readonly cause: ApiFailure }
  | { readonly state: 'in'; readonly user: User }

const EARLY_MS = 30_000
/** Together well under the time in which a second use of a cookie is no theft. */
const AGAIN_MS = [300, 1_500]

let session: Session = { state: 'starting' }
let base: string | undefined
let serviceVersion = ''
let access: { readonly token: string; readonly until: number } | undefined
const listeners = new Set<() => void>()

export const currentSession = (): Session => session

export function onSession(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Tabs of one browser share the cookie: when one is signed out, all look whether they still are in. */
let tabs: BroadcastChannel | undefined

function listenToOtherTabs(): void {
  tabs = new BroadcastChannel('chapar-session')
  tabs.onmessage = () => {
    if (session.state === 'in') accessToken(true).catch(() => undefined)
  }
}

function become(next: Session): void {
  if (session.state === 'in' && next.state === 'out') tabs?.postMessage('out')
  session = next
  for (const listener of listeners) listener()
}

const post = <Result>(path: string, body: object) =>
  ask<Result>(`/panel/session/${path}`, {
    ...posting(body, { 'x-csrf': '1' }),
    credentials: 'same-origin',
    // A page that is left meanwhile must not lose the cookie that replaces the one it has used up.
    keepalive: true,
  })

/** The address of the bot API, as reached from where this panel is open. */
export const baseUrl = (): string => base ?? location.origin

/** The version of the service that this page is from, once somebody is signed in. */
export const versionOf = (): string => serviceVersion

function opened({ access_token, expires_in, user, base_url, version }: Opened): string {
  serviceVersion = version
  base = base_url
  access = { token: access_token, until: Date.now() + expires_in * 1000 }
  become({ state: 'in', user })
  return access_token
}

/** The challenge id separates the tries of this page from wrong codes that others enter. */
export async function signIn(phone: string, otp: string, challengeId: string): Promise<void> {
  opened(await post<Opened>('login', { phone, otp, challenge_id: challengeId }))
}

export async function signOut(): Promise<void> {
  await post('logout', {})
  access = undefined
  become({ state: 'out' })
}

/** The session was ended from elsewhere. */
export function forgetSession(): void {
  access = undefined
  become({ state: 'out' })
}

/** An operator has suspended the user, who reads the reason on every page until that ends. */
export function noticeSuspension(cause: unknown): void {
  const isSuspended = cause instanceof ApiFailure && cause.why?.code === 'user_suspended'
  if (isSuspended && session.state !== 'out') become({ state: 'refused', cause })
}

let refreshing: Promise<string> | undefined

/** A token that is still valid for a while; rejects with 401 if the user is not signed in. */
export function accessToken(isStale = false): Promise<string> {
  if (!isStale && access && access.until - EARLY_MS > Date.now())
    return Promise.resolve(access.token)
  refreshing ??= oneTabAtATime(refresh).finally(() => {
    refreshing = undefined
  })
  return refreshing
}

const isOut = (cause: unknown) => cause instanceof ApiFailure && cause.status === 401

/** By the page before this one: the next cookie is on its way. */
const isUsedUp = (cause: unknown) =>
  isOut(cause) && (cause as ApiFailure).why?.code === 'refresh_token_used'

async function renewed(): Promise<Opened | null> {
  for (const waitMs of AGAIN_MS) {
    try {
      return await post('refresh', {})
    } catch (cause) {
      if (!isUsedUp(cause)) throw cause
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
  return post('refresh', {})
}

async function refresh(): Promise<string> {
  try {
    const found = await renewed()
    if (found === null) throw new ApiFailure(401, 'nobody is signed in')
    return opened(found)
  } catch (cause) {
    if (isOut(cause)) forgetSession()
    else noticeSuspension(cause)
    if (session.state === 'starting') become({ state: 'unreachable' })
    throw cause
  }
}

/** Each use of the cookie replaces it, and a second use of the same one looks like theft. */
function oneTabAtATime<Result>(work: () => Promise<Result>): Promise<Result> {
  // Only a secure page has locks; an insecure one keeps no cookie either.
  return 'locks' in navigator ? navigator.locks.request('chapar-session', work) : work()
}

export function startSession(): Promise<unknown> {
  listenToOtherTabs()
  return accessToken().catch(() => undefined)
}
