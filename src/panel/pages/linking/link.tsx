/** /dashboard/link: the choice of a messenger and of a way to link, and the fields that it needs first. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { addressOf, call } from '../../api/call.ts'
import { credentialQuery, openLinksQuery, platformsQuery, userQuery } from '../../api/queries.ts'
import {
  type Credential,
  handleOf,
  type LinkField,
  type LinkSession,
  nameOf,
  type Platform,
} from '../../api/types.ts'
import { Hint } from '../../help/hint.tsx'
import { useT } from '../../i18n/language.tsx'
import { StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice, Form } from '../../ui/form.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Failed, Loading, Notice, useFieldReason, Wrong } from '../../ui/states.tsx'
import { PersonPicker, SANDBOX } from './sandbox-person.tsx'
import { LinkInput } from './steps.tsx'

interface StartFormProps {
  readonly platform: Platform
  /** The credential that is linked again. */
  readonly again?: number
  readonly account?: Credential['account']
}

interface Wish {
  readonly method: string
  readonly fields: readonly LinkField[]
  readonly values: Readonly<Record<string, string>>
  readonly again: number | undefined
}

function useStart(platform: string, { method, fields, values, again }: Wish) {
  const navigate = useNavigate()
  return useMutation({
    mutationFn: () => {
      const given = fields
        .map(({ name }) => [name, values[name]?.trim() ?? ''] as const)
        .filter(([, value]) => value !== '')
      return call<LinkSession>('POST', `/platforms/${platform}/link/start`, {
        body: {
          method,
          ...Object.fromEntries(given),
          ...(again !== undefined && { credential_id: again }),
        },
      })
    },
    onSuccess: ({ session_id }) =>
      navigate(
        addressOf(`/dashboard/link/${platform}/${session_id}`, {
          again,
          phone: platform === SANDBOX ? values.phone : undefined,
        }),
        { replace: true },
      ),
  })
}

/** The values of fields that are known from the account, if it is linked again. */
function knownOf(account: Credential['account'] | undefined): Readonly<Record<string, string>> {
  if (!account) return {}
  const { phone, username } = account
  return { ...(phone && { phone }), ...(username?.includes('@') && { jid: username }) }
}

export function StartForm({ platform, again, account }: StartFormProps) {
  const t = useT()
  const fieldReason = useFieldReason()
  const [method, setMethod] = useState(platform.link[0]?.method ?? '')
  const [values, setValues] = useState(() => knownOf(account))
  const fields = platform.link.find((one) => one.method === method)?.fields ?? []
  const isSandbox = platform.platform === SANDBOX
  const starting = useStart(platform.platform, { method, fields, values, again })
  const wrongIn = (name: string) => fieldReason(starting.error, name)
  const isShown = fields.some(({ name }) => wrongIn(name) !== undefined)
  return (
    <Form by={starting} className="card">
      {platform.link.length > 1 && (
        <Choice
          label={t('linking.method')}
          value={method}
          options={platform.link.map(
            (one) => [one.method, t.word('linking.by', one.method)] as const,
          )}
          onChange={setMethod}
        />
      )}
      {isSandbox && (
        <PersonPicker
          phone={values.phone ?? ''}
          onChoose={(phone) => setValues({ ...values, phone })}
        />
      )}
      {fields.map((field) => (
        <LinkInput
          key={field.name}
          field={field}
          value={values[field.name] ?? ''}
          wrong={wrongIn(field.name)}
          onChange={(value) => setValues({ ...values, [field.name]: value })}
        />
      ))}
      {!isShown && <Wrong cause={starting.error} />}
      <div className="actions">
        <Button type="submit" kind="first" busy={starting.isPending}>
          {t('linking.start')}
        </Button>
      </div>
    </Form>
  )
}

/** Our own drawings for networks, on a grid of 24; any other network gets a link. */
const logos: Readonly<Record<string, readonly [colour: string, path: string]>> = {
  sandbox: [
    '#6d4fc2',
    'M9.500 5h5m-4 0v5L6.200 17.500A1 1 0 0 0 7.100 19h9.800a1 1 0 0 0 .9-1.500L13.500 10V5M8.500 15h7',
  ],
  telegram: ['#1f78b4', 'M4.500 11.500 19 5.500l-2.500 13-5-4-2.500 2.500-.5-4L17 7'],
  'telegram-bot': [
    '#1f78b4',
    'M7 9h10a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1H7a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1zm5 0V5.500M9.500 12.500v1m5-1v1m-4.500 2.500h4',
  ],
  bale: ['#1a7f55', 'M6 6h12v9h-6.500L8 18.500V15H6zm3 4.500 2.200 2 3.800-4'],
  soroush: ['#7a3fa0', 'M5 8h14v8H9l-4 3zM12 10v4M10 12h4'],
  xmpp: ['#a84f00', 'M5 7c4 1 10 5.500 14 10M19 7c-4 1-10 5.500-14 10M5 7h3m8 0h3'],
}

/** A square with the drawing of a network, which the name beside it says in words. */
function Logo({ platform }: { readonly platform: string }) {
  const [colour, path] = logos[platform] ?? [
    '#555d6d',
    'M8 12h8M7 8.500 3.500 12 7 15.500m10-7 3.500 3.500-3.500 3.500',
  ]
  return (
    <svg width={36} height={36} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <rect width={24} height={24} rx={6} fill={colour} />
      <path
        d={path}
        fill="none"
        stroke="#fff"
        strokeWidth={1.6}
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}

/** A messenger without a message of the panel is shown by its own name. */
function useNetworkName() {
  const t = useT()
  return (platform: string, own: string) => {
    const known = t.word('platform', platform)
    return known === platform ? own : known
  }
}

interface PlatformsProps {
  readonly all: readonly Platform[]
  readonly chosen: Platform | undefined
  choose(platform: string): void
}

/** The networks as tiles: logo, name, one sentence, and whether one can link here. */
function Platforms({ all, chosen, choose }: PlatformsProps) {
  const t = useT()
  const nameOf = useNetworkName()
  return (
    <fieldset className="platforms">
      <legend className="label">{t('linking.platform')}</legend>
      {all.map(({ platform, name, available }) => (
        <label key={platform} className="platform">
          <input
            type="radio"
            name="platform"
            value={platform}
            checked={chosen?.platform === platform}
            disabled={!available}
            onChange={() => choose(platform)}
            aria-describedby={`about-${platform}`}
            aria-label={nameOf(platform, name)}
          />
          <Logo platform={platform} />
          <span className="grow">
            <span className="label block">{nameOf(platform, name)}</span>
            <span id={`about-${platform}`} className="quiet small block">
              {available
                ? t.word('linking.about', platform)
                : t('linking.unavailable', { platform: nameOf(platform, name) })}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

const TELEGRAM_APPS = 'https://my.telegram.org/apps'

/** For those who run the service: what is missing where one cannot link. */
function Setup({ all }: { readonly all: readonly Platform[] }) {
  const t = useT()
  const nameOf = useNetworkName()
  const isOperator = useQuery(userQuery).data?.operator === true
  const missing = all.filter(({ available }) => !available)
  if (!isOperator || missing.length === 0) return null
  return (
    <Notice>
      <p className="label">{t('linking.setup')}</p>
      {missing.map(({ platform, name, unavailable_reason }) => (
        <p key={platform} className="small">
          <strong>{nameOf(platform, name)}</strong>:{' '}
          {platform === 'telegram' ? (
            <>
              {t('linking.setup.telegram')}{' '}
              <a href={TELEGRAM_APPS} target="_blank" rel="noreferrer">
                {t('linking.setup.telegram.get')}
              </a>
            </>
          ) : (
            unavailable_reason
          )}
        </p>
      ))}
    </Notice>
  )
}

/** Links that were begun and not ended, to go on with. */
function OpenLinks() {
  const t = useT()
  const nameOf = useNetworkName()
  const open = useQuery(openLinksQuery)
  const items = open.data?.items ?? []
  if (open.isError && !open.data) return <Wrong cause={open.error} />
  if (items.length === 0) return null
  return (
    <Card title={t('linking.open')}>
      <ul className="records">
        {items.map(({ session_id, platform, state, credential_id, phone, jid, expires_in }) => (
          <li key={session_id}>
            <Link
              className="record"
              to={addressOf(`/dashboard/link/${platform}/${session_id}`, {
                again: credential_id ?? undefined,
              })}
            >
              <Logo platform={platform} />
              <span className="grow">
                <span className="label block">
                  {nameOf(platform, platform)}
                  {credential_id !== null &&
                    ` · ${t('account.number', { id: `${credential_id}` })}`}
                  {(phone ?? jid) && (
                    <>
                      {' · '}
                      <bdi className="ltr">{phone ?? jid}</bdi>
                    </>
                  )}
                </span>
                <span className="quiet small block">
                  {t.word('linking.waits', state)} ·{' '}
                  {t.count('linking.open.left', Math.ceil(expires_in / 60))}
                </span>
              </span>
              <span className="button slim">{t('linking.resume')}</span>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  )
}

export function LinkPage() {
  const t = useT()
  const [query, setQuery] = useSearchParams()
  const platforms = useQuery(platformsQuery)
  const again = query.get('again')
  const account = useQuery({ ...credentialQuery(Number(again)), enabled: again !== null })
  /** The form takes what is known of the account at its start. A deleted account has nothing to tell. */
  const isReady = again === null || account.data !== undefined || account.isError
  const chosen = platforms.data?.find(({ platform }) => platform === query.get('platform'))
  return (
    <Page
      title={t(again ? 'linking.again' : 'accounts.link')}
      lead={
        <>
          {t('linking.lead')} <Hint about="linking" />
        </>
      }
      narrow
    >
      {platforms.isError && !platforms.data ? (
        <Failed cause={platforms.error} retry={() => platforms.refetch()} />
      ) : !platforms.data || !isReady ? (
        <Loading lines={4} />
      ) : (
        <>
          {account.data && <Again credential={account.data} />}
          <Wrong cause={account.data ? null : account.error} />
          {!again && (
            <>
              <OpenLinks />
              <Platforms
                all={platforms.data}
                chosen={chosen}
                choose={(platform) => setQuery({ platform }, { replace: true })}
              />
              <Setup all={platforms.data} />
            </>
          )}
          {chosen?.available && (
            <StartForm
              key={chosen.platform}
              platform={chosen}
              {...(again && { again: Number(again) })}
              {...(account.data && { account: account.data.account })}
            />
          )}
        </>
      )}
    </Page>
  )
}

/** Which account is linked again. */
function Again({ credential }: { readonly credential: Credential }) {
  return (
    <p className="row">
      <Logo platform={credential.platform} />
      <span className="label" dir="auto">
        {nameOf(credential)}
      </span>
      <span className="quiet small ltr">{handleOf(credential)}</span>
      <StateBadge state={credential.state} />
    </p>
  )
}
