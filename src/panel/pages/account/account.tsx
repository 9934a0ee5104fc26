/** /dashboard/account: the signed-in user, their sign-ins, and the tokens of their scripts. */
import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { isGone } from '../../api/failure.ts'
import { signInsQuery, useSession } from '../../api/queries.ts'
import { forgetSession, signOut } from '../../api/session.ts'
import type { SignIn } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Preferences } from '../../layout/preferences.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Failed, Loading, useReason } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { Tokens } from './tokens.tsx'

const browsers: readonly (readonly [form: RegExp, name: string])[] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\//, 'Firefox'],
  [/(Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const systems: readonly (readonly [form: RegExp, name: string])[] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
]

/** A short name of a device from the browser's user agent. */
function deviceOf(userAgent: string): string {
  const nameIn = (names: typeof browsers) => names.find(([form]) => form.test(userAgent))?.[1]
  const known = [nameIn(browsers), nameIn(systems)].filter(Boolean).join(' · ')
  return known || userAgent.split(/[\s(]/)[0] || userAgent
}

/** One that was ended elsewhere meanwhile is ended, too. */
const end = ({ session_id }: SignIn) =>
  call('DELETE', `/user/sessions/${session_id}`).catch((cause: unknown) => {
    if (!isGone(cause)) throw cause
  })

/**
 * Asks anew who is signed in, because somebody may have come since the list was read, and again where the list has more pages. Ends this sign-in last, because
 * afterwards no other one can be ended.
 */
async function endAll(queries: QueryClient): Promise<void> {
  for (let isMore = true; isMore; ) {
    const { items, next_before } = await queries.fetchQuery({ ...signInsQuery, staleTime: 0 })
    await Promise.all(items.filter(({ current }) => !current).map(end))
    isMore = next_before !== null
  }
  await signOut()
}

/** The sessions of the user: one or all of them can be signed out. */
export function SignIns() {
  const t = useT()
  const reason = useReason()
  const [isAsking, setAsking] = useState(false)
  const list = useQuery(signInsQuery)
  const signIns = list.data?.items ?? []
  const queries = useQueryClient()
  const endingAll = useMutation({ mutationFn: () => endAll(queries) })
  return (
    <Card
      title={t('signIns.title')}
      aside={
        <Button kind="danger" size="slim" icon="out" onClick={() => setAsking(true)}>
          {t('signIns.all')}
        </Button>
      }
    >
      {list.isError && !list.data ? (
        <Failed cause={list.error} retry={() => list.refetch()} />
      ) : !list.data ? (
        <Loading />
      ) : (
        <ul className="records">
          {signIns.map((signIn) => (
            <SignInRow key={signIn.session_id} signIn={signIn} />
          ))}
        </ul>
      )}
      <Confirm
        title={t('signIns.all')}
        action={t('signIns.all')}
        open={isAsking}
        busy={endingAll.isPending}
        wrong={endingAll.error ? reason(endingAll.error) : undefined}
        onConfirm={() => endingAll.mutate()}
        onClose={() => setAsking(false)}
      >
        {t('signIns.allText')}
      </Confirm>
    </Card>
  )
}

function SignInRow({ signIn }: { readonly signIn: SignIn }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const queries = useQueryClient()
  const ending = useMutation({
    mutationFn: () => end(signIn),
    onSuccess() {
      if (signIn.current) return forgetSession()
      toast(t('signIns.ended'))
      return queries.invalidateQueries(signInsQuery)
    },
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  const device = signIn.user_agent ? deviceOf(signIn.user_agent) : t('unknown')
  return (
    <li className="record">
      <span className="grow">
        <span className="row">
          <span className="label" title={signIn.user_agent ?? ''}>
            {device}
          </span>
          {signIn.current && <Badge tone="good">{t('signIns.here')}</Badge>}
        </span>
        <span className="quiet small block">
          <span className="ltr">{signIn.ip ?? t('unknown')}</span> · {t('signIns.used')}{' '}
          <Ago at={signIn.last_used_at} />
        </span>
      </span>
      <Button
        size="slim"
        busy={ending.isPending}
        aria-label={t('signIns.endOf', { device })}
        onClick={() => ending.mutate()}
      >
        {t('signOut')}
      </Button>
    </li>
  )
}

export function AccountPage() {
  const t = useT()
  const { day } = useFormats()
  const session = useSession()
  if (session.state !== 'in') return null
  const { user } = session
  return (
    <Page title={t('settings.title')} lead={t('settings.lead')} narrow>
      <Card title={t('settings.profile')} aside={<Preferences />}>
        <dl className="facts">
          <dt>{t('phone')}</dt>
          <dd>
            <span className="ltr">{user.phone}</span>
          </dd>
          <dt>{t('settings.number')}</dt>
          <dd>
            <span className="number ltr">{user.user_id}</span>
          </dd>
          <dt>{t('settings.since')}</dt>
          <dd>{day(user.created_at)}</dd>
        </dl>
      </Card>
      <Tokens />
      <SignIns />
      <Card title={t('audit.title')}>
        <p className="quiet small">{t('audit.lead')}</p>
        <div className="row">
          <ButtonLink to="/dashboard/account/audit" icon="pulse">
            {t('audit.open')}
          </ButtonLink>
        </div>
      </Card>
    </Page>
  )
}
