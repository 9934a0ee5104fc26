{{- define "chapar.name" -}}
{{- if contains "chapar" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-chapar" .Release.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "chapar.selector" -}}
app.kubernetes.io/name: chapar
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "chapar.labels" -}}
{{ include "chapar.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- /* What all processes of the service have in common: nodes and the job of an upgrade. */}}
{{- define "chapar.image" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- define "chapar.environment" -}}
{{- with .Values.secrets.environment }}
envFrom:
  {{- range . }}
  - secretRef:
      name: {{ . }}
  {{- end }}
{{- end }}
env:
  # A pod keeps its name, and with it the accounts that are placed at it.
  - name: NODE_NAME
    valueFrom: { fieldRef: { fieldPath: metadata.name } }
  - name: POD_IP
    valueFrom: { fieldRef: { fieldPath: status.podIP } }
  - name: CLUSTER_ADDRESS
    value: {{ printf "https://%s:9443" .Values.clusterHost | quote }}
  - name: DATABASE_URL
    valueFrom:
      secretKeyRef: { name: {{ required "secrets.database.name" .Values.secrets.database.name }}, key: {{ .Values.secrets.database.key }} }
  {{- if .Values.secrets.redis.name }}
  - name: REDIS_URL
    valueFrom:
      secretKeyRef: { name: {{ .Values.secrets.redis.name }}, key: {{ .Values.secrets.redis.key }} }
  {{- end }}
  - name: KEY_FILE
    value: /keys/{{ .Values.secrets.keyFile.key }}
  - name: BASE_URL
    value: {{ .Values.baseUrl | quote }}
  - name: HOST
    value: {{ if hasPrefix "[" .Values.clusterHost }}'::'{{ else }}0.0.0.0{{ end }}
  - name: PORT
    value: '8080'
  {{- if .Values.metrics.enabled }}
  - name: METRICS_PORT
    value: '9464'
  {{- end }}
  - name: DRAIN_SECONDS
    value: {{ .Values.drainSeconds | quote }}
  - name: NODE_OPTIONS
    value: --max-old-space-size={{ .Values.heapMegabytes }}
  {{- if .Values.trustProxy }}
  - name: TRUST_PROXY
    value: {{ .Values.trustProxy | quote }}
  {{- end }}
  {{- range $name, $value := .Values.environment }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
{{- end }}

{{- define "chapar.mounts" -}}
volumeMounts:
  - { name: data, mountPath: /app/data }
  - { name: tmp, mountPath: /tmp }
  - { name: keys, mountPath: /keys, readOnly: true }
{{- end }}

{{- define "chapar.volumes" -}}
volumes:
  - name: data
    emptyDir: { sizeLimit: {{ .Values.dataSize }} }
  - name: tmp
    emptyDir: { sizeLimit: 256Mi }
  - name: keys
    secret:
      secretName: {{ required "secrets.keyFile.name" .Values.secrets.keyFile.name }}
      # 0440, which YAML writes in two ways: for the group of the process, for nobody else.
      defaultMode: 288
      items:
        - { key: {{ .Values.secrets.keyFile.key }}, path: {{ .Values.secrets.keyFile.key }} }
{{- end }}

{{- define "chapar.pod" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- define "chapar.scheduling" -}}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
