/** Fakes of the ports around actors; a call that no test expects fails that test. */

import type {
  AccountIdentity,
  FileStream,
  LinkAttempt,
  LinkedAccount,
  Platform,
  Session,
  SessionReport,
} from '../../actors/ports/platform.ts'
import type {
  Appended,
  CredentialFacts,
  CredentialStore,
  Logger,
  LostCredential,
  Transition,
  UpdateLog,
} from '../../actors/ports/ports.ts'
import { OwnershipLost } from '../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../machines/model/operation.ts'

export interface Failing {
  fail(text: string): unknown
}

/** A port of which only these calls are expected. */
export function only<Port extends object>(t: Failing, name: string, expected: Partial<Port>): Port {
  return new Proxy(expected, {
    get(target, key) {
      if (key in target || typeof key === 'symbol') return Reflect.get(target, key)
      return () => unexpected(t, `${name}.${key}`)
    },
  }) as Port
}

function unexpected(t: Failing, call: string): never {
  t.fail(`unexpected call of ${call}`)
  throw new Error(`unexpected call of ${call}`)
}

export const somebody: AccountIdentity = { native: 'native 1', firstName: 'Ada' }

/** A session in the hands of its test: it reports what it is told to. */
export class FakeSession implements Session {
  readonly account: LinkedAccount
  readonly report: SessionReport
  readonly signal: AbortSignal
  /** How it was closed, once for each time. */
  readonly closings: { readonly signOut: boolean }[] = []
  probes = 0
  /** Whether a sign-out reaches the network. */
  confirms = false
  onClose: () => Promise<void> = async () => undefined
  onProbe: (signal: AbortSignal) => Promise<number> = async () => 7
  onPerform: (
    operation: Operation,
    requestId: string,
    signal: AbortSignal,
  ) => Promise<OperationResult>

  constructor(t: Failing, account: LinkedAccount, report: SessionReport, signal: AbortSignal) {
    this.account = account
    this.report = report
    this.signal = signal
    this.onPerform = () => unexpected(t, 'Session.perform')
    this.download = () => unexpected(t, 'Session.download')
  }

  download: () => Promise<FileStream>

  perform(operation: Operation, requestId: string, signal: AbortSignal): Promise<OperationResult> {
    return this.onPerform(operation, requestId, signal)
  }

  async probe(signal: AbortSignal): Promise<number> {
    this.probes++
    return this.onProbe(signal)
  }

  async close({ signOut, confirmed }: Parameters<Session['close']>[0]): Promise<void> {
    this.closings.push({ signOut })
    await this.onClose()
    if (signOut && this.confirms) confirmed?.()
  }
}

/** Opens sessions at once, unless `onOpen` does something else. */
export class FakePlatform {
  readonly sessions: FakeSession[] = []
  readonly port: Platform
  /** What two sessions at once do to each other. */
  bears: Platform['sessions'] = 'shared'
  onOpen: (session: FakeSession) => void = (session) => session.report.opened(somebody)
  onResumeLink: (stored: unknown) => Promise<LinkAttempt>

  constructor(t: Failing) {
    this.onResumeLink = () => unexpected(t, 'Platform.resumeLink')
    const bears = () => this.bears
    this.port = only<Platform>(t, 'Platform', {
      id: 'fake',
      get sessions() {
        return bears()
      },
      open: (account, report, signal) => {
        const session = new FakeSession(t, account, report, signal)
        this.sessions.push(session)
        this.onOpen(session)
        return session
      },
      resumeLink: (stored) => this.onResumeLink(stored),
    })
  }

  /** The newest session. */
  get session(): FakeSession {
    const newest = this.sessions.at(-1)
    if (!newest) throw new Error('no session was opened')
    return newest
  }
}

type Batch = Parameters<UpdateLog['append']>[0]

export class FakeUpdateLog {
  readonly appended: Batch[] = []
  readonly port: UpdateLog
  onAppend: (batch: Batch) => Promise<Appended> = async ({ happenings }) => ({
    stored: true,
    count: happenings.length,
  })

  constructor(t: Failing, more: Partial<UpdateLog> = {}) {
    this.port = only<UpdateLog>(t, 'UpdateLog', {
      open: async () => undefined,
      append: (batch) => {
        this.appended.push(batch)
        return this.onAppend(batch)
      },
      ...more,
    })
  }
}

export class FakeCredentialStore {
  readonly transitions: Transition[] = []
  readonly health: Parameters<CredentialStore['noteHealth']>[1][] = []
  readonly deactivated: number[] = []
  /** What another node has claimed. */
  fenced: LostCredential[] = []
  readonly facts = new Map<number, CredentialFacts>()
  /** What belongs to another node that lives. */
  readonly elsewhere = new Set<number>()
  readonly port: CredentialStore

  constructor(t: Failing, more: Partial<CredentialStore> = {}) {
    this.port = only<CredentialStore>(t, 'CredentialStore', {
      claim: async (credentialId) => {
        if (this.elsewhere.has(credentialId)) throw new OwnershipLost()
        return this.facts.get(credentialId)
      },
      account: async (credentialId) => ({
        credentialId,
        identity: somebody,
        secrets: 'secret',
        epoch: this.facts.get(credentialId)?.epoch ?? 3,
        checkpoint: null,
        link: 0,
      }),
      saveIdentity: async () => undefined,
      fenced: async () => this.fenced,
      saveDeletion: async () => undefined,
      noteEvents: () => undefined,
      deactivate: async ({ credentialId }) => {
        this.deactivated.push(credentialId)
      },
      record: (transition) => this.transitions.push(transition),
      noteHealth: (_, health) => this.health.push(health),
      ...more,
    })
  }

  /** The states that were recorded, one after another. */
  get states(): string[] {
    return this.transitions.map(({ to }) => to)
  }
}

/** Keeps what actors complain about. */
export class FakeLogger implements Logger {
  readonly errors: { readonly err?: unknown; readonly text: string }[] = []
  readonly warnings: string[] = []
  info(): void {}
  warn(_: object, text: string): void {
    this.warnings.push(text)
  }
  error(facts: object, text: string): void {
    this.errors.push({ ...facts, text })
  }
}
