/** The five steps in their order: what each looks at, what it saw, what it says. */
import type { Diagnosis, DiagnosisStep, Verdict } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { useFix } from './remedy.tsx'

const tones: Readonly<Record<Verdict, Tone>> = {
  pending: 'idle',
  passed: 'good',
  failed: 'bad',
  skipped: 'idle',
}

export function Steps({
  diagnosis,
  busy,
}: {
  readonly diagnosis: Diagnosis
  readonly busy: boolean
}) {
  return (
    <ol className="steps" aria-live="polite" aria-busy={busy}>
      {diagnosis.steps.map((step, place) => (
        <Step
          key={step.step}
          step={step}
          place={place}
          isRunning={busy && step.step === diagnosis.step}
        />
      ))}
    </ol>
  )
}

interface StepProps {
  readonly step: DiagnosisStep
  readonly place: number
  readonly isRunning: boolean
}

function Step({ step, place, isRunning }: StepProps) {
  const t = useT()
  const { number } = useFormats()
  const fix = useFix()
  const { verdict, code, remedy, evidence } = step
  const isUntold = step.step === 'send' && verdict === 'skipped'
  const tone = verdict === 'passed' && code !== null ? 'warn' : tones[verdict]
  return (
    <li className={`card step tone-${isRunning ? 'busy' : tone} ${verdict}`}>
      <header>
        <div className="row">
          <span className="place number">{number(place + 1)}</span>
          <div className="grow">
            <h2>{t.word('diagnosis.step', step.step)}</h2>
            <p className="quiet small">{t.word('diagnosis.about', step.step)}</p>
          </div>
        </div>
        {isRunning ? (
          <Badge tone="busy">{t('diagnosis.running')}</Badge>
        ) : (
          <Badge tone={tone}>{t(`diagnosis.verdict.${verdict}`)}</Badge>
        )}
      </header>
      {evidence.length > 0 && (
        <ul className="evidence small" aria-label={t('diagnosis.evidence')}>
          {evidence.map((line, place) => (
            <li key={line} dir="auto">
              {t.fact(step.evidence_codes[place], line)}
            </li>
          ))}
        </ul>
      )}
      {(code ?? remedy) !== null && (
        <p className="small remedy">
          {isUntold ? t('diagnosis.fix.no_target') : fix(code, remedy)}
        </p>
      )}
    </li>
  )
}
