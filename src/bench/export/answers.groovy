// Names each sample after its answer, by the rules in load.json. Refusals come first; only "accepted" succeeds.
import groovy.json.JsonSlurper
import org.apache.jmeter.services.FileServer

def rules = props.computeIfAbsent('mallbox.rules') {
    new JsonSlurper().parse(new File(FileServer.fileServer.baseDir, 'load.json'), 'UTF-8').rules
}
def valueAt = { String body, String pointer ->
    try {
        pointer.split('/', -1).drop(1).inject(new JsonSlurper().parseText(body)) { value, step ->
            def name = step.replace('~1', '/').replace('~0', '~')
            value instanceof Map ? value[name] : value instanceof List && name.isInteger() ? value[name as int] : null
        }
    } catch (ignored) {
        null
    }
}
def matches = { rule, int status, String body ->
    if (rule.status != null && rule.status != status) return false
    if (rule.at == null) return rule.contains == null || body.contains(rule.contains)
    def value = valueAt(body, rule.at)
    if (rule.containsKey('is') && rule.is != value) return false
    rule.contains == null || (value instanceof String && value.contains(rule.contains))
}

def answer = 'lost'
if (prev.responseCode.isInteger()) {
    int status = prev.responseCode as int
    def body = prev.responseDataAsString
    def rule = rules.find { matches(it, status, body) }
    answer = rule ? rule.answer : status in 200..299 ? 'refused' : 'rejected'
}
prev.successful = answer == 'accepted'
prev.sampleLabel = answer
