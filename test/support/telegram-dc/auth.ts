/** Signing in and out, as the data centres of the test network do it. */
import { randomBytes, randomInt } from 'node:crypto'
import { Long, type tl } from '@mtcute/core'
import type { Device } from './connection.ts'
import { type Handlers, type Origin, RpcRefusal } from './data-centre.ts'
import { now } from './delivery.ts'
import { longOf } from './handshake.ts'
import type { TelegramNetwork } from './network.ts'
import { type Person, userOf } from './people.ts'

export const newCode = () => `${randomInt(10_000, 99_999)}`

export function authHandlers(network: TelegramNetwork): Handlers {
  const byPhone = (phone: string, { centre }: Origin): Person => {
    const person = [...network.people.values()].find((person) => person.phone === phone)
    if (!person) throw new RpcRefusal(400, 'PHONE_NUMBER_INVALID')
    if (person.isBanned) throw new RpcRefusal(400, 'PHONE_NUMBER_BANNED')
    if (person.centre !== centre.id) throw new RpcRefusal(303, `PHONE_MIGRATE_${person.centre}`)
    if (person.floodSeconds > 0) throw new RpcRefusal(420, `FLOOD_WAIT_${person.floodSeconds}`)
    return person
  }
  const send = (person: Person, type: tl.auth.TypeSentCodeType): tl.auth.RawSentCode => {
    person.code = newCode()
    person.isCodeOld = false
    return {
      _: 'auth.sentCode',
      type,
      phoneCodeHash: hashOf(person),
      nextType: { _: 'auth.codeTypeSms' },
      timeout: 60,
    }
  }
  /** Who may sign in at another data centre with these bytes. */
  const exported = new Map<string, number>()
  /** It takes a code once, and who gave it may not hear of it. */
  const welcomeByCode = (person: Person, origin: Origin) => {
    person.isCodeOld = true
    const answer = welcome(person, origin)
    if (person.lostAnswers === 0) return answer
    person.lostAnswers -= 1
    return undefined
  }
  const welcome = (person: Person, { device }: Origin): tl.auth.RawAuthorization => {
    device.userId = person.id
    delete device.pendingUserId
    return { _: 'auth.authorization', user: userOf(person, person) }
  }

  return {
    'help.getConfig': (_, { centre }) =>
      network.isConfigLost ? undefined : configOf(network, centre.id),
    'help.getNearestDc': (_, { centre }) => ({
      _: 'nearestDc',
      country: 'XX',
      thisDc: centre.id,
      nearestDc: centre.id,
    }),
    'auth.sendCode': ({ phoneNumber }, origin) => {
      const person = byPhone(phoneNumber, origin)
      const { email } = person
      if (email === '') return send(person, { _: 'auth.sentCodeTypeSetUpEmailRequired' })
      if (email === undefined) return send(person, { _: 'auth.sentCodeTypeApp', length: 5 })
      const emailPattern = email.replace(/(?<=^.).*(?=@)/, '***')
      return send(person, { _: 'auth.sentCodeTypeEmailCode', emailPattern, length: 5 })
    },
    'auth.resendCode': ({ phoneNumber }, origin) =>
      send(byPhone(phoneNumber, origin), { _: 'auth.sentCodeTypeSms', length: 5 }),
    'auth.cancelCode': () => true,
    'auth.signIn': ({ phoneNumber, phoneCode, phoneCodeHash, emailVerification }, origin) => {
      const person = byPhone(phoneNumber, origin)
      if (person.email) {
        if (emailVerification?._ !== 'emailVerificationCode') {
          throw new RpcRefusal(400, 'PHONE_CODE_INVALID')
        }
        if (person.isCodeOld) throw new RpcRefusal(400, 'EMAIL_VERIFY_EXPIRED')
        if (emailVerification.code !== person.code) throw new RpcRefusal(400, 'CODE_INVALID')
        return welcomeByCode(person, origin)
      }
      if (person.isCodeOld) throw new RpcRefusal(400, 'PHONE_CODE_EXPIRED')
      if (phoneCodeHash !== hashOf(person)) throw new RpcRefusal(400, 'PHONE_CODE_EXPIRED')
      if (phoneCode !== person.code) throw new RpcRefusal(400, 'PHONE_CODE_INVALID')
      if (!person.secondFactor) return welcomeByCode(person, origin)
      origin.device.pendingUserId = person.id
      throw new RpcRefusal(401, 'SESSION_PASSWORD_NEEDED')
    },
    'account.getPassword': (_, { device }) => {
      const person = network.people.get(device.pendingUserId ?? 0)
      if (!person?.secondFactor) throw new RpcRefusal(401, 'AUTH_KEY_UNREGISTERED')
      return person.secondFactor.account
    },
    'auth.checkPassword': ({ password }, origin) => {
      const person = network.people.get(origin.device.pendingUserId ?? 0)
      if (!person?.secondFactor) throw new RpcRefusal(401, 'AUTH_KEY_UNREGISTERED')
      if (!person.secondFactor.accepts(password)) throw new RpcRefusal(400, 'PASSWORD_HASH_INVALID')
      return welcome(person, origin)
    },
    'auth.exportLoginToken': (_, { device }) => {
      const person = network.people.get(device.userId ?? 0)
      if (person) {
        const authorization = { _: 'auth.authorization', user: userOf(person, person) } as const
        return { _: 'auth.loginTokenSuccess', authorization }
      }
      if (device.pendingUserId) throw new RpcRefusal(401, 'SESSION_PASSWORD_NEEDED')
      const token = Buffer.from(device.auth.id, 'hex')
      const scanner = network.people.get(device.scannedBy ?? 0)
      if (scanner) return { _: 'auth.loginTokenMigrateTo', dcId: scanner.centre, token }
      return { _: 'auth.loginToken', expires: now() + 30, token }
    },
    'auth.importLoginToken': ({ token }, origin) => {
      const device = deviceShowing(network, token)
      const person = network.people.get(device?.scannedBy ?? 0)
      if (!person) throw new RpcRefusal(400, 'AUTH_TOKEN_INVALID')
      if (person.secondFactor) {
        origin.device.pendingUserId = person.id
        throw new RpcRefusal(401, 'SESSION_PASSWORD_NEEDED')
      }
      return { _: 'auth.loginTokenSuccess', authorization: welcome(person, origin) }
    },
    'auth.acceptLoginToken': ({ token }, origin) => {
      const device = deviceShowing(network, token)
      if (!device) throw new RpcRefusal(400, 'AUTH_TOKEN_INVALID')
      acceptLogin(network, network.asker(origin), token)
      return signedInOn(device)
    },
    'account.getAuthorizations': (_, origin) => {
      const { id } = network.asker(origin)
      const devices = network.centres.flatMap((centre) => [...centre.devices.values()])
      const own = devices.filter(({ userId }) => userId === id)
      const authorizations = own.map((device) => ({
        ...signedInOn(device),
        ...(device === origin.device && { current: true }),
      }))
      return { _: 'account.authorizations', authorizationTtlDays: 180, authorizations }
    },
    'auth.exportAuthorization': (_, origin) => {
      const { id } = network.asker(origin)
      const bytes = randomBytes(16)
      exported.set(bytes.toString('hex'), id)
      return { _: 'auth.exportedAuthorization', id: Long.fromNumber(id), bytes }
    },
    'auth.importAuthorization': ({ bytes }, origin) => {
      const person = network.people.get(exported.get(Buffer.from(bytes).toString('hex')) ?? 0)
      const isRefused = network.importsRefused-- > 0
      if (!person || isRefused) throw new RpcRefusal(400, 'AUTH_BYTES_INVALID')
      return welcome(person, origin)
    },
    'auth.logOut': (_, { device }) => {
      delete device.userId
      return { _: 'auth.loggedOut', futureAuthToken: randomBytes(8) }
    },
  }
}

/** Another device of the account says yes to a login token that it was shown. */
export function acceptLogin(network: TelegramNetwork, person: Person, token: Uint8Array) {
  const key = Buffer.from(token).toString('hex')
  for (const centre of network.centres) {
    const device = centre.devices.get(key)
    if (!device) continue
    if (person.centre !== centre.id) device.scannedBy = person.id
    else if (person.secondFactor) device.pendingUserId = person.id
    else device.userId = person.id
    const update = { _: 'updateLoginToken' }
    const news = { _: 'updateShort', update, date: now() }
    for (const connection of centre.connections) {
      if (connection.device === device) connection.notify(news)
    }
  }
}

function deviceShowing({ centres }: TelegramNetwork, token: Uint8Array): Device | undefined {
  const key = Buffer.from(token).toString('hex')
  return centres.flatMap(({ devices }) => devices.get(key) ?? [])[0]
}

/** What the owner of an account sees of a device of theirs. */
function signedInOn({ auth, introduction }: Device): tl.RawAuthorization {
  const told = (name: string) => String(introduction?.[name] ?? '')
  return {
    _: 'authorization',
    hash: longOf(Buffer.from(auth.id, 'hex')),
    deviceModel: told('deviceModel'),
    platform: '',
    systemVersion: told('systemVersion'),
    apiId: Number(introduction?.apiId ?? 0),
    appName: 'an application',
    appVersion: told('appVersion'),
    dateCreated: now(),
    dateActive: now(),
    ip: '127.0.0.1',
    country: 'XX',
    region: '',
  }
}

const hashOf = ({ id, code }: Person) => `hash-${id}-${code.length}`

function configOf(network: TelegramNetwork, thisDc: number): tl.RawConfig {
  const at = now()
  return {
    _: 'config',
    date: at,
    expires: at + 3600,
    testMode: false,
    thisDc,
    dcOptions: network.centres.map(({ id, port }) => ({
      _: 'dcOption',
      id,
      ipAddress: '127.0.0.1',
      port,
    })),
    dcTxtDomainName: '',
    chatSizeMax: 200,
    megagroupSizeMax: 200_000,
    forwardedCountMax: 100,
    onlineUpdatePeriodMs: 120_000,
    offlineBlurTimeoutMs: 5_000,
    offlineIdleTimeoutMs: 30_000,
    onlineCloudTimeoutMs: 300_000,
    notifyCloudDelayMs: 30_000,
    notifyDefaultDelayMs: 1_500,
    pushChatPeriodMs: 60_000,
    pushChatLimit: 2,
    editTimeLimit: 172_800,
    revokeTimeLimit: 2_147_483_647,
    revokePmTimeLimit: 2_147_483_647,
    ratingEDecay: 2_419_200,
    stickersRecentLimit: 200,
    channelsReadMediaPeriod: 604_800,
    callReceiveTimeoutMs: 20_000,
    callRingTimeoutMs: 90_000,
    callConnectTimeoutMs: 30_000,
    callPacketTimeoutMs: 10_000,
    meUrlPrefix: 'https://t.me/',
    captionLengthMax: 1024,
    messageLengthMax: 4096,
    webfileDcId: 4,
  }
}
