/** What a diagnosis came to: the cause, what to do now, and the button that does it. */
import type { ApiKey, Diagnosis } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Icon } from '../../ui/icons.tsx'
import { useFix } from './fixes.ts'
import { Remedy } from './remedy.tsx'
import { reportOf } from './report.ts'

export interface ResultProps {
  readonly diagnosis: Diagnosis
  readonly apiKey: ApiKey
  anew(): void
}

export function Result({ diagnosis, apiKey, anew }: ResultProps) {
  const t = useT()
  const fix = useFix()
  const { cause, next_action } = diagnosis
  const isBroken = diagnosis.steps.some(({ verdict }) => verdict === 'failed')
  const tone = isBroken ? 'bad' : cause ? 'warn' : 'good'
  return (
    <section className={`card result tone-${tone}`} aria-labelledby="result" aria-live="polite">
      <header>
        <h2 id="result" className="row">
          <Icon name={tone === 'good' ? 'check' : 'warning'} size={22} />
          {cause
            ? t(isBroken ? 'diagnosis.found' : 'diagnosis.noticed', {
                step: t.word('diagnosis.step', cause.step),
              })
            : t('diagnosis.healthy')}
        </h2>
        <CopyButton text={reportOf(diagnosis, apiKey)} label={t('diagnosis.copy')} />
      </header>
      {cause && (
        <p className="quiet" dir="auto">
          {t.known('said', cause.text)}
        </p>
      )}
      <p>{cause ? fix(cause.code, next_action) : t('diagnosis.healthyText')}</p>
      <div className="actions">
        <Button icon="restart" onClick={anew}>
          {t('diagnosis.anew')}
        </Button>
        {cause && <Remedy code={cause.code} diagnosis={diagnosis} />}
      </div>
    </section>
  )
}
