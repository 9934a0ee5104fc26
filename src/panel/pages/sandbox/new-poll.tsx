/** A poll to be sent: what is asked, and between what one chooses. */
import { useMutation } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Toggle } from '../../ui/figure.tsx'
import { Choice, Field, Form } from '../../ui/form.tsx'
import { Wrong } from '../../ui/states.tsx'
import type { NewContentProps } from './new-place.tsx'

const MOST_OPTIONS = 12

interface NewPollProps extends NewContentProps {
  /** One option is right. */
  readonly isQuiz?: boolean
}

export function NewPollDialog({ write, isQuiz = false, onClose }: NewPollProps) {
  const t = useT()
  const [question, setQuestion] = useState('')
  const [lines, setLines] = useState('')
  const [isMultiple, setMultiple] = useState(false)
  const [right, setRight] = useState('0')
  const options = lines
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  const isChoice = options.length >= 2 && options.length <= MOST_OPTIONS
  const sending = useMutation({
    mutationFn: () =>
      write({
        poll: {
          question: question.trim(),
          options,
          ...(isQuiz
            ? { type: 'quiz', correct_option_ids: [Number(right)] }
            : { allows_multiple_answers: isMultiple }),
        },
      }),
    onSuccess: onClose,
  })
  return (
    <Dialog title={t('messenger.poll')} open onClose={onClose}>
      <Form by={sending} isReady={isChoice}>
        <Field
          label={t('messenger.question')}
          required
          maxLength={300}
          autoComplete="off"
          value={question}
          onChange={(event) => setQuestion(event.target.value)}
        />
        <OptionLines lines={lines} change={setLines} />
        {isQuiz ? (
          <Choice
            label={t('messenger.rightOption')}
            value={right}
            options={options.map((option, place) => [`${place}`, option])}
            onChange={setRight}
          />
        ) : (
          <Toggle label={t('messenger.multiple')} on={isMultiple} onChange={setMultiple} />
        )}
        <Wrong cause={sending.error} />
        <div className="actions">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" kind="first" busy={sending.isPending} disabled={!isChoice}>
            {t('messenger.send')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

interface OptionLinesProps {
  readonly lines: string
  change(lines: string): void
}

function OptionLines({ lines, change }: OptionLinesProps) {
  const t = useT()
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{t('messenger.options')}</label>
      <textarea
        id={id}
        className="input"
        rows={4}
        dir="auto"
        required
        aria-describedby={`${id}-hint`}
        value={lines}
        onChange={(event) => change(event.target.value)}
      />
      <span id={`${id}-hint`} className="hint">
        {t('messenger.optionsHint', { most: MOST_OPTIONS })}
      </span>
    </div>
  )
}
